/** How materials look. Only for the eye; what they sound like is the server's. */

import { Color, DoubleSide, MeshStandardMaterial, type WebGLProgramParametersWithUniforms } from "three";
import { frugal } from "../ui/frames";

interface Look {
  color: string;
  metalness: number;
  roughness: number;
  opacity?: number;
}

const LOOKS: [RegExp, Look][] = [
  [/brass|bell/, { color: "#c9a24a", metalness: 1, roughness: 0.28 }],
  [/bronze/, { color: "#a97142", metalness: 1, roughness: 0.32 }],
  [/copper/, { color: "#c4744f", metalness: 1, roughness: 0.3 }],
  [/gold/, { color: "#e0b64a", metalness: 1, roughness: 0.2 }],
  [/alumin/, { color: "#c3c7cc", metalness: 0.95, roughness: 0.42 }],
  [/steel|iron|metal|titan|silver|nickel/, { color: "#8f99a6", metalness: 1, roughness: 0.3 }],
  [/glass|crystal/, { color: "#a8d4d6", metalness: 0, roughness: 0.06, opacity: 0.5 }],
  [/ice/, { color: "#bfe0ee", metalness: 0, roughness: 0.18, opacity: 0.7 }],
  [/ceramic|porcelain|china/, { color: "#e4e1d8", metalness: 0, roughness: 0.2 }],
  [/rosewood|ebony/, { color: "#6b3f2c", metalness: 0, roughness: 0.55 }],
  [/wood|oak|pine|spruce|maple|fir|birch|bamboo/, { color: "#b5835a", metalness: 0, roughness: 0.65 }],
  [/rubber/, { color: "#4a4d52", metalness: 0, roughness: 0.9 }],
  [/plastic|nylon|pvc|acryl|abs|poly/, { color: "#5b8fd0", metalness: 0, roughness: 0.45 }],
  [/concrete|stone|brick|marble|granite|rock/, { color: "#9b9a94", metalness: 0, roughness: 0.9 }],
  [/bone|tooth|shell/, { color: "#ded3b8", metalness: 0, roughness: 0.6 }],
];

const PLAIN: Look = { color: "#7d8591", metalness: 0.1, roughness: 0.7 };

export interface BodyMaterial extends MeshStandardMaterial {
  userData: { amount: { value: number }; glow: { value: number } };
}

/** A material that can also bend its mesh into the shape of a mode and glow where that moves most. */
export function bodyMaterial(): BodyMaterial {
  const material = new MeshStandardMaterial({ side: DoubleSide }) as BodyMaterial;
  material.userData = { amount: { value: 0 }, glow: { value: 0 } };
  const { amount, glow } = material.userData;
  material.onBeforeCompile = (shader: WebGLProgramParametersWithUniforms) => {
    shader.uniforms["modeAmount"] = amount;
    shader.uniforms["modeGlow"] = glow;
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", "#include <common>\nattribute vec3 modeShape;\nuniform float modeAmount;\nvarying float vModeSize;")
      .replace("#include <begin_vertex>", "#include <begin_vertex>\ntransformed += modeShape * modeAmount;\nvModeSize = length(modeShape);");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nuniform float modeGlow;\nvarying float vModeSize;")
      .replace(
        "#include <emissivemap_fragment>",
        "#include <emissivemap_fragment>\ntotalEmissiveRadiance += modeGlow * mix(vec3(0.02, 0.05, 0.25), vec3(1.0, 0.45, 0.05), smoothstep(0.0, 0.8, vModeSize));",
      );
  };
  return material;
}

export function dress(material: MeshStandardMaterial, name: string | null, sounds: boolean): void {
  const look = LOOKS.find(([pattern]) => name !== null && pattern.test(name.toLowerCase()))?.[1] ?? PLAIN;
  material.color = new Color(look.color);
  material.metalness = look.metalness;
  material.roughness = look.roughness;
  material.transparent = look.opacity !== undefined;
  material.opacity = look.opacity ?? 1;
  material.depthWrite = look.opacity === undefined;
  if (!sounds) {
    material.color.lerp(new Color("#4b525d"), 0.75);
    material.metalness *= 0.3;
    material.roughness = Math.max(material.roughness, 0.7);
  }
  // Metal without anything to mirror would be black.
  if (frugal.value) material.metalness *= 0.45;
  material.needsUpdate = true;
}

/** The colour of a small dot that stands for the material in lists. */
export function swatch(name: string | null): string {
  return LOOKS.find(([pattern]) => name !== null && pattern.test(name.toLowerCase()))?.[1].color ?? PLAIN.color;
}
