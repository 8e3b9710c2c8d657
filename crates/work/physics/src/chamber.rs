//! The drift chamber: cylinders of axial wires and hyperboloids of stereo wires, in a field along z.

/// Layers of sense wires.
const LAYERS: usize = 40;
/// Layers in a superlayer, whose wires have the same direction.
const SUPERLAYER: usize = 4;
/// Tangent of the angle between the wires of each superlayer and the axis. Axial and stereo superlayers alternate, as
/// in CDF's central outer tracker, and the stereo angle alternates in sign.
const TILTS: [f64; 10] = [0.0, 0.05, 0.0, -0.05, 0.0, 0.05, 0.0, -0.05, 0.0, 0.05];
/// Radius of the innermost and of the outermost layer, cm.
const RADII: (f64, f64) = (23.6, 80.9);
/// Approximate width of a cell along its layer, cm.
const CELL: f64 = 1.8;

/// One layer of wires: a cylinder, or a hyperboloid for stereo wires.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its radius at z = 0, cm.
    pub radius: f64,
    /// Rotation of its wires around the axis, cm for each centimetre along it; 0 for an axial layer.
    pub tilt: f64,
    /// Azimuth of the first wire, at z = 0.
    pub offset: f64,
    /// Angle between wires.
    pub pitch: f64,
    /// Position of each wire at z = 0, cm.
    pub wires: Vec<(f64, f64)>,
}

impl Layer {
    fn new(index: usize) -> Self {
        let radius = RADII.0 + (RADII.1 - RADII.0) * index as f64 / (LAYERS - 1) as f64;
        let cells = (std::f64::consts::TAU * radius / CELL).floor();
        let pitch = std::f64::consts::TAU / cells;
        // Layers are staggered by half a cell, which resolves the left-right ambiguity.
        let offset = if index.is_multiple_of(2) { 0.0 } else { pitch / 2.0 };
        let wire = |cell: usize| {
            let (sine, cosine) = libm::sincos(offset + pitch * cell as f64);
            (radius * cosine, radius * sine)
        };
        let wires = (0..cells as usize).map(wire).collect();
        Self { radius, tilt: TILTS[index / SUPERLAYER], offset, pitch, wires }
    }

    /// Whether its wires are at an angle to the axis.
    #[must_use]
    pub fn is_stereo(&self) -> bool {
        self.tilt != 0.0
    }

    /// Its radius at a position along the axis, cm.
    #[must_use]
    pub fn radius_at(&self, z: f64) -> f64 {
        if self.is_stereo() { (self.radius * self.radius + self.tilt * self.tilt * z * z).sqrt() } else { self.radius }
    }

    /// Position of a wire at a position along the axis, cm.
    #[must_use]
    pub fn wire_at(&self, cell: usize, z: f64) -> (f64, f64) {
        let ((x, y), turn) = (self.wires[cell], self.tilt * z / self.radius);
        (x - turn * y, y + turn * x)
    }

    /// Shift of a wire across the axis for each centimetre along it.
    #[must_use]
    pub fn lean(&self, cell: usize) -> (f64, f64) {
        let ((x, y), turn) = (self.wires[cell], self.tilt / self.radius);
        (-turn * y, turn * x)
    }

    /// The cell that contains a point with this azimuth and position along the axis.
    #[must_use]
    pub fn cell_at(&self, azimuth: f64, z: f64) -> usize {
        let turned = if self.is_stereo() { libm::atan(self.tilt * z / self.radius) } else { 0.0 };
        self.cell(azimuth - turned)
    }

    /// The cell that contains a point with this azimuth, at z = 0.
    #[must_use]
    pub fn cell(&self, azimuth: f64) -> usize {
        let cells = self.wires.len() as i64;
        let nearest = ((azimuth - self.offset) / self.pitch + 0.5).floor() as i64;
        // An azimuth is within a few turns of zero, so the cell index is within a few laps.
        nearest.rem_euclid(cells) as usize
    }

    /// Half the width of a cell along the layer, cm: the longest drift.
    #[must_use]
    pub fn half_cell(&self) -> f64 {
        0.5 * self.pitch * self.radius
    }
}

/// Geometry, field and response of the chamber.
#[derive(Debug, Clone, PartialEq)]
pub struct Chamber {
    /// Layers, innermost first.
    pub layers: Vec<Layer>,
    /// Half its length along z, cm.
    pub half_length: f64,
    /// Field along z, tesla.
    pub field: f64,
    /// Standard deviation of a drift distance, cm.
    pub resolution: f64,
    /// Probability that a cell detects a track that crosses it.
    pub efficiency: f64,
    /// Probability that a cell fires without a track, in one event.
    pub noise: f64,
}

impl Default for Chamber {
    /// 40 layers from 23.6 to 80.9 cm, every other four at 50 mrad, 1.5 T, 125 um, 97% efficient, 2% noise.
    fn default() -> Self {
        Self {
            layers: (0..LAYERS).map(Layer::new).collect(),
            half_length: 138.0,
            field: 1.5,
            resolution: 0.0125,
            efficiency: 0.97,
            noise: 0.02,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_lies_in_its_own_cell() {
        let chamber = Chamber::default();
        assert_eq!(chamber.layers.len(), 40);
        for layer in &chamber.layers {
            for (index, (x, y)) in layer.wires.iter().enumerate() {
                let azimuth = libm::atan2(*y, *x);
                assert_eq!(layer.cell(azimuth), index);
                assert_eq!(layer.cell(azimuth + 0.49 * layer.pitch + std::f64::consts::TAU), index);
            }
        }
        assert_eq!(chamber.layers.iter().filter(|layer| layer.is_stereo()).count(), 20);
        let cells: usize = chamber.layers.iter().map(|layer| layer.wires.len()).sum();
        assert!((6500..8000).contains(&cells), "{cells}");
    }

    #[test]
    fn tilted_wires_turn_about_the_axis_and_layers_do_not_cross() {
        let chamber = Chamber::default();
        for z in [-138.0, -20.0, 138.0] {
            let mut below = 0.0;
            for layer in &chamber.layers {
                let (x, y) = layer.wire_at(7, z);
                let radius = layer.radius_at(z);
                assert!(((x * x + y * y).sqrt() - radius).abs() < 1e-9);
                assert_eq!(layer.cell_at(libm::atan2(y, x), z), 7);
                let (a, b) = layer.lean(7);
                let ahead = layer.wire_at(7, z + 1.0);
                assert!((ahead.0 - x - a).abs() < 1e-9 && (ahead.1 - y - b).abs() < 1e-9);
                assert!(radius > below + 0.2, "{radius} {below}");
                below = radius;
            }
        }
    }
}
