//! The sound device of this machine. Only with the feature `device`.

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use thiserror::Error;

/// Why no sound comes out.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum DeviceError {
    /// No output device.
    #[error("this machine has no sound output")]
    None,
    /// The system refused.
    #[error("the sound device cannot be used: {0}")]
    Refused(String),
}

fn refused(error: impl std::fmt::Display) -> DeviceError {
    DeviceError::Refused(error.to_string())
}

/// The default output.
pub struct Output {
    device: cpal::Device,
    config: cpal::SupportedStreamConfig,
}

/// Sound while it lives.
pub struct Playing {
    _stream: cpal::Stream,
}

impl Output {
    /// Finds the default output device.
    ///
    /// # Errors
    /// If there is none.
    pub fn find() -> Result<Self, DeviceError> {
        let device = cpal::default_host().default_output_device().ok_or(DeviceError::None)?;
        let config = device.default_output_config().map_err(refused)?;
        Ok(Self { device, config })
    }

    /// The rate at which the device runs: make the engine with it.
    pub fn sample_rate_hz(&self) -> f64 {
        f64::from(self.config.sample_rate())
    }

    /// Plays until the result is dropped; `fill` is asked for frames of so many interleaved channels.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn play(&self, mut fill: impl FnMut(&mut [f32], usize) + Send + 'static) -> Result<Playing, DeviceError> {
        let channels = usize::from(self.config.channels());
        let stream = self
            .device
            .build_output_stream(
                &self.config.config(),
                move |out: &mut [f32], _: &cpal::OutputCallbackInfo| fill(out, channels),
                |error| eprintln!("sound device: {error}"),
                None,
            )
            .map_err(refused)?;
        stream.play().map_err(refused)?;
        Ok(Playing { _stream: stream })
    }
}
