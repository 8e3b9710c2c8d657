//! The drift chamber: cylinders of wires in a field along z.

/// Layers of sense wires.
const LAYERS: usize = 40;
/// Radius of the innermost and of the outermost layer, cm.
const RADII: (f64, f64) = (23.6, 80.9);
/// Width of a cell along its layer that is aimed at, cm.
const CELL: f64 = 1.8;

/// One cylinder of wires.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its radius, cm.
    pub radius: f64,
    /// Azimuth of the first wire.
    pub offset: f64,
    /// Angle between wires.
    pub pitch: f64,
    /// Where each wire stands, cm.
    pub wires: Vec<(f64, f64)>,
}

impl Layer {
    fn new(index: usize) -> Self {
        let radius = RADII.0 + (RADII.1 - RADII.0) * index as f64 / (LAYERS - 1) as f64;
        let cells = (std::f64::consts::TAU * radius / CELL).floor();
        let pitch = std::f64::consts::TAU / cells;
        // Layers are staggered by half a cell, which is what resolves on which side of its wire a track went.
        let offset = if index.is_multiple_of(2) { 0.0 } else { pitch / 2.0 };
        let wire = |cell: usize| {
            let (sine, cosine) = libm::sincos(offset + pitch * cell as f64);
            (radius * cosine, radius * sine)
        };
        let wires = (0..cells as usize).map(wire).collect();
        Self { radius, offset, pitch, wires }
    }

    /// The cell in which a point at this azimuth lies.
    #[must_use]
    pub fn cell(&self, azimuth: f64) -> usize {
        let cells = self.wires.len() as i64;
        let nearest = ((azimuth - self.offset) / self.pitch + 0.5).floor() as i64;
        // An azimuth is within a few turns of zero, so the cell is within a few laps.
        nearest.rem_euclid(cells) as usize
    }

    /// Half the width of a cell along the layer, cm: the longest drift.
    #[must_use]
    pub fn half_cell(&self) -> f64 {
        0.5 * self.pitch * self.radius
    }
}

/// Geometry, field and response.
#[derive(Debug, Clone, PartialEq)]
pub struct Chamber {
    /// Layers from the inside.
    pub layers: Vec<Layer>,
    /// Half its length along z, cm.
    pub half_length: f64,
    /// Field along z, tesla.
    pub field: f64,
    /// Standard deviation of a drift distance, cm.
    pub resolution: f64,
    /// Probability that a cell sees a track that crosses it.
    pub efficiency: f64,
    /// Probability that a cell fires by itself in an event.
    pub noise: f64,
}

impl Default for Chamber {
    /// 40 layers from 23.6 to 80.9 cm, 1.5 T, 125 um, 97% efficient, 2% noise.
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
        let cells: usize = chamber.layers.iter().map(|layer| layer.wires.len()).sum();
        assert!((6500..8000).contains(&cells), "{cells}");
    }
}
