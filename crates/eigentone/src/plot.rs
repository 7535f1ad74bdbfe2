//! Pictures of models, meshes and sounds.
