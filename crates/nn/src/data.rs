//! Examples as plain vectors, and batches of them as tensors.

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::init::Rng;
use crate::{Error, Input, Result};

/// The inputs of a dataset, example after example.
#[derive(Debug, Clone, PartialEq)]
pub enum Inputs {
    /// Sequences of `length` tokens each.
    Tokens {
        /// Positions per example.
        length: usize,
        /// All tokens.
        values: Vec<i32>,
    },
    /// Real vectors of `dim` entries each.
    Array {
        /// Entries per example.
        dim: usize,
        /// All entries.
        values: Vec<f32>,
    },
    /// Images of one size.
    Images {
        /// Colours per pixel.
        channels: usize,
        /// Rows.
        height: usize,
        /// Columns.
        width: usize,
        /// All values, channel by channel and row by row.
        values: Pixels,
    },
}

/// The values of images.
#[derive(Debug, Clone, PartialEq)]
pub enum Pixels {
    /// A byte a value keeps a large collection in memory; networks see `value / 255`.
    Bytes(Vec<u8>),
    /// As networks see them.
    Floats(Vec<f32>),
}

impl Pixels {
    /// How far a number may be from a multiple of 1/255 and still be taken for it: rounding of single precision.
    const SAME: f32 = 1e-6;

    /// Values as networks are to see them, in bytes where nothing is lost by that.
    pub fn new(values: Vec<f32>) -> Self {
        let byte = |&value: &f32| {
            let whole = (value * 255.0).round();
            let same = (0.0..=255.0).contains(&whole) && (value - whole / 255.0).abs() <= Self::SAME;
            same.then_some(whole as u8)
        };
        match values.iter().map(byte).collect() {
            Some(bytes) => Self::Bytes(bytes),
            None => Self::Floats(values),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bytes(values) => values.len(),
            Self::Floats(values) => values.len(),
        }
    }

    /// The chosen images, as networks see them.
    fn pick(&self, size: usize, rows: &[usize]) -> Vec<f32> {
        match self {
            Self::Bytes(values) => pick(values, size, rows).into_iter().map(|value| f32::from(value) / 255.0).collect(),
            Self::Floats(values) => pick(values, size, rows),
        }
    }
}

impl Inputs {
    /// Values per example, and in all.
    fn sizes(&self) -> (usize, usize) {
        match self {
            Self::Tokens { length, values } => (*length, values.len()),
            Self::Array { dim, values } => (*dim, values.len()),
            Self::Images { channels, height, width, values } => (channels * height * width, values.len()),
        }
    }
}

/// What the network should answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// Regression: one number per example; the loss is the mean squared error on it as it stands.
    Values(Vec<f32>),
    /// Classification: one class per example.
    Classes {
        /// Number of classes.
        count: usize,
        /// Class of each example, below `count`.
        labels: Vec<usize>,
    },
}

/// Inputs with their targets.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    inputs: Inputs,
    targets: Targets,
}

/// One example that an augmentation may change in place.
#[derive(Debug)]
pub enum Example<'a> {
    /// The tokens of a sequence.
    Tokens(&'a mut [i32]),
    /// The entries of a vector, or the values of an image, channel by channel and row by row.
    Array(&'a mut [f32]),
}

/// Forced data augmentation: changes a training example with random numbers from the loop's generator.
pub type Augmentation<'a> = &'a (dyn Fn(&mut Rng, Example) + Sync);

impl Dataset {
    /// Joins inputs and targets, refusing what does not fit.
    pub fn new(inputs: Inputs, targets: Targets) -> Result<Self> {
        let (width, total) = inputs.sizes();
        if width == 0 || total == 0 || !total.is_multiple_of(width) {
            return Err(Error::shape("dataset inputs", format!("a multiple of {width} values, at least one example"), total));
        }
        if let Inputs::Tokens { values, .. } = &inputs
            && let Some(bad) = values.iter().find(|t| **t < 0)
        {
            return Err(Error::shape("token", "0 or more", bad));
        }
        let count = match &targets {
            Targets::Values(values) => values.len(),
            Targets::Classes { count, labels } => {
                if let Some(bad) = labels.iter().find(|l| *l >= count) {
                    return Err(Error::shape("class label", format!("below {count}"), bad));
                }
                labels.len()
            }
        };
        if count != total / width {
            return Err(Error::shape("dataset targets", format!("{} (one per example)", total / width), count));
        }
        Ok(Self { inputs, targets })
    }

    /// The chosen examples, in this order.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let inputs = match &self.inputs {
            Inputs::Tokens { length, values } => Inputs::Tokens { length: *length, values: pick(values, *length, rows) },
            Inputs::Array { dim, values } => Inputs::Array { dim: *dim, values: pick(values, *dim, rows) },
            &Inputs::Images { channels, height, width, ref values } => {
                let size = channels * height * width;
                let values = match values {
                    Pixels::Bytes(values) => Pixels::Bytes(pick(values, size, rows)),
                    Pixels::Floats(values) => Pixels::Floats(pick(values, size, rows)),
                };
                Inputs::Images { channels, height, width, values }
            }
        };
        let targets = match &self.targets {
            Targets::Values(values) => Targets::Values(pick(values, 1, rows)),
            Targets::Classes { count, labels } => Targets::Classes { count: *count, labels: pick(labels, 1, rows) },
        };
        Self::new(inputs, targets)
    }

    /// These examples, then those of another dataset of the same kind.
    pub fn followed_by(&self, more: &Self) -> Result<Self> {
        let wrong = || Error::shape("datasets to join", "examples of one kind", "different ones");
        let inputs = match (&self.inputs, &more.inputs) {
            (Inputs::Tokens { length, values }, Inputs::Tokens { length: other, values: rest }) if length == other => {
                Inputs::Tokens { length: *length, values: [values.as_slice(), rest].concat() }
            }
            (Inputs::Array { dim, values }, Inputs::Array { dim: other, values: rest }) if dim == other => {
                Inputs::Array { dim: *dim, values: [values.as_slice(), rest].concat() }
            }
            (
                &Inputs::Images { channels, height, width, ref values },
                Inputs::Images { channels: c, height: h, width: w, values: rest },
            ) if (channels, height, width) == (*c, *h, *w) => {
                let values = match (values, rest) {
                    (Pixels::Bytes(values), Pixels::Bytes(rest)) => Pixels::Bytes([values.as_slice(), rest].concat()),
                    (values, rest) => {
                        let floats = |pixels: &Pixels| pixels.pick(1, &(0..pixels.len()).collect::<Vec<_>>());
                        Pixels::Floats([floats(values), floats(rest)].concat())
                    }
                };
                Inputs::Images { channels, height, width, values }
            }
            _ => return Err(wrong()),
        };
        let targets = match (&self.targets, &more.targets) {
            (Targets::Values(values), Targets::Values(rest)) => Targets::Values([values.as_slice(), rest].concat()),
            (Targets::Classes { count, labels }, Targets::Classes { count: other, labels: rest }) if count == other => {
                Targets::Classes { count: *count, labels: [labels.as_slice(), rest].concat() }
            }
            _ => return Err(wrong()),
        };
        Self::new(inputs, targets)
    }

    /// The same with every entry of an array changed by its place; other inputs stay as they are.
    #[must_use]
    pub fn with_entries(mut self, change: impl Fn(usize, f32) -> f32) -> Self {
        if let Inputs::Array { dim, values } = &mut self.inputs {
            values.iter_mut().enumerate().for_each(|(k, value)| *value = change(k % *dim, *value));
        }
        self
    }

    /// The same with every number to predict changed; classes stay as they are.
    #[must_use]
    pub fn with_values(mut self, change: impl Fn(f32) -> f32) -> Self {
        if let Targets::Values(values) = &mut self.targets {
            for value in values.iter_mut() {
                *value = change(*value);
            }
        }
        self
    }

    /// Sequences with a number to predict.
    pub fn sequences(length: usize, tokens: Vec<i32>, targets: Vec<f32>) -> Result<Self> {
        Self::new(Inputs::Tokens { length, values: tokens }, Targets::Values(targets))
    }

    /// Number of examples.
    pub fn len(&self) -> usize {
        match &self.targets {
            Targets::Values(values) => values.len(),
            Targets::Classes { labels, .. } => labels.len(),
        }
    }

    /// A dataset has at least one example.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The inputs.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The targets.
    pub fn targets(&self) -> &Targets {
        &self.targets
    }

    /// Outputs a network needs: 1 for regression, else the number of classes.
    pub fn outputs(&self) -> usize {
        match &self.targets {
            Targets::Values(_) => 1,
            Targets::Classes { count, .. } => *count,
        }
    }

    /// The largest token, if these are sequences.
    pub fn largest_token(&self) -> Option<i32> {
        match &self.inputs {
            Inputs::Tokens { values, .. } => values.iter().max().copied(),
            Inputs::Array { .. } | Inputs::Images { .. } => None,
        }
    }

    /// The chosen examples, each first changed by `augment`.
    pub(crate) fn picked(&self, rows: &[usize], augment: Option<(Augmentation, &mut Rng)>) -> Picked {
        let (mut picked, size) = match &self.inputs {
            Inputs::Tokens { length, values } => {
                let mut picked = pick(values, *length, rows);
                if let Some((augment, rng)) = augment {
                    picked.chunks_mut(*length).for_each(|example| augment(rng, Example::Tokens(example)));
                }
                return Picked::Tokens(picked);
            }
            Inputs::Array { dim, values } => (pick(values, *dim, rows), *dim),
            Inputs::Images { channels, height, width, values } => {
                let size = channels * height * width;
                (values.pick(size, rows), size)
            }
        };
        if let Some((augment, rng)) = augment {
            picked.chunks_mut(size).for_each(|example| augment(rng, Example::Array(example)));
        }
        Picked::Array(picked)
    }

    /// The same as tensors on `device`.
    pub(crate) fn batch(&self, rows: &[usize], augment: Option<(Augmentation, &mut Rng)>, device: &Device) -> (Input, Goal) {
        let count = rows.len();
        let input = match (self.picked(rows, augment), &self.inputs) {
            (Picked::Tokens(picked), _) => {
                let length = picked.len() / count.max(1);
                Input::Tokens(Tensor::from_data(TensorData::new(picked, [count, length]), device))
            }
            (Picked::Array(picked), &Inputs::Images { channels, height, width, .. }) => {
                Input::Images(Tensor::from_data(TensorData::new(picked, [count, channels, height, width]), device))
            }
            (Picked::Array(picked), _) => {
                let width = picked.len() / count.max(1);
                Input::Array(Tensor::from_data(TensorData::new(picked, [count, width]), device))
            }
        };
        let goal = match &self.targets {
            Targets::Values(values) => {
                let picked: Vec<f32> = rows.iter().map(|&r| values[r]).collect();
                Goal::Values(Tensor::from_data(TensorData::new(picked, [rows.len(), 1]), device))
            }
            Targets::Classes { labels, .. } => {
                let picked: Vec<i32> = rows.iter().map(|&r| labels[r] as i32).collect();
                Goal::Classes(Tensor::from_data(TensorData::new(picked, [rows.len(), 1]), device))
            }
        };
        (input, goal)
    }
}

/// The inputs of a batch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Picked {
    /// Sequences.
    Tokens(Vec<i32>),
    /// Real vectors, or images.
    Array(Vec<f32>),
}

/// Targets of a batch.
#[derive(Debug, Clone)]
pub(crate) enum Goal {
    /// `[batch, 1]`.
    Values(Tensor<2>),
    /// `[batch, 1]`.
    Classes(Tensor<2, Int>),
}

impl Goal {
    /// Mean loss of the outputs, shape `[1]`: squared error or cross entropy.
    pub(crate) fn loss(self, outputs: Tensor<2>) -> Tensor<1> {
        match self {
            Self::Values(values) => (outputs - values).square().mean(),
            Self::Classes(labels) => burn::tensor::activation::log_softmax(outputs, 1).gather(1, labels).mean().neg(),
        }
    }
}

fn pick<T: Copy>(values: &[T], width: usize, rows: &[usize]) -> Vec<T> {
    rows.iter().flat_map(|&r| &values[r * width..(r + 1) * width]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_must_fit() {
        assert!(Dataset::sequences(3, vec![1, 2, 3, 4], vec![1.0]).is_err());
        assert!(Dataset::sequences(2, vec![1, 2, 3, 4], vec![1.0]).unwrap_err().to_string().contains("expected 2"));
        assert!(Dataset::sequences(2, vec![1, -2], vec![1.0]).is_err());
        let classes = Targets::Classes { count: 2, labels: vec![2] };
        assert!(Dataset::new(Inputs::Array { dim: 1, values: vec![0.0] }, classes).is_err());
    }

    #[test]
    fn examples_are_selected_and_joined() {
        let data = Dataset::sequences(2, vec![1, 2, 3, 4, 5, 6], vec![0.1, 0.2, 0.3]).unwrap();
        let (one, two) = (data.select(&[2]).unwrap(), data.select(&[0, 1]).unwrap());
        assert_eq!(two.followed_by(&one).unwrap(), data);
        assert!(data.select(&[]).is_err());
        let array = Dataset::new(Inputs::Array { dim: 2, values: vec![1.0, 2.0] }, Targets::Values(vec![0.0])).unwrap();
        assert!(data.followed_by(&array).is_err());
        let changed = array.with_entries(|place, value| 10.0 * value + place as f32);
        assert_eq!(changed.inputs(), &Inputs::Array { dim: 2, values: vec![10.0, 21.0] });
        let images = |values| Inputs::Images { channels: 1, height: 1, width: 2, values };
        let of = |values, label| Dataset::new(images(values), Targets::Classes { count: 2, labels: vec![label] }).unwrap();
        let both = of(Pixels::Bytes(vec![255, 0]), 1).followed_by(&of(Pixels::Floats(vec![0.5, 1.0]), 0)).unwrap();
        assert_eq!(both.inputs(), &images(Pixels::Floats(vec![1.0, 0.0, 0.5, 1.0])));
        assert_eq!(both.select(&[1]).unwrap(), of(Pixels::Floats(vec![0.5, 1.0]), 0));
    }

    #[test]
    fn batches_pick_rows_and_augment_them() {
        let data = Dataset::sequences(2, vec![1, 2, 3, 4, 5, 6], vec![0.1, 0.2, 0.3]).unwrap();
        let mut rng = crate::init::rng(0, 0);
        let swap = |_: &mut Rng, example: Example| {
            if let Example::Tokens(tokens) = example {
                tokens.reverse();
            }
        };
        let (input, goal) = data.batch(&[2, 0], Some((&swap, &mut rng)), &Device::flex());
        let tokens = input.tokens("test").unwrap().into_data().convert::<i32>().try_to_vec::<i32>().unwrap();
        assert_eq!(tokens, [6, 5, 2, 1]);
        let Goal::Values(values) = goal else { panic!("values expected") };
        assert_eq!(values.into_data().try_to_vec::<f32>().unwrap(), [0.3, 0.1]);
    }

    #[test]
    fn images_become_numbers_between_zero_and_one() {
        let inputs =
            Inputs::Images { channels: 2, height: 1, width: 2, values: Pixels::Bytes(vec![0, 51, 102, 255, 255, 0, 0, 0]) };
        let data = Dataset::new(inputs, Targets::Classes { count: 2, labels: vec![0, 1] }).unwrap();
        let mut rng = crate::init::rng(0, 0);
        let mirror = |_: &mut Rng, example: Example| {
            let Example::Array(values) = example else { panic!("an image is an array") };
            values.reverse();
        };
        let (input, _) = data.batch(&[0, 1], Some((&mirror, &mut rng)), &Device::flex());
        let Input::Images(images) = input else { panic!("images expected") };
        assert_eq!(images.dims(), [2, 2, 1, 2]);
        let values = images.into_data().try_to_vec::<f32>().unwrap();
        for (got, expected) in values.into_iter().zip([1.0, 0.4, 0.2, 0.0, 0.0, 0.0, 0.0, 1.0]) {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
        let inputs = Inputs::Images { channels: 3, height: 2, width: 2, values: Pixels::Bytes(vec![0; 13]) };
        assert!(Dataset::new(inputs, Targets::Values(vec![0.0])).is_err());
    }

    #[test]
    fn values_are_bytes_only_where_nothing_is_lost() {
        let bytes: Vec<u8> = (0..=255).collect();
        let values: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) / 255.0).collect();
        let scaled: Vec<f32> = bytes.iter().map(|&byte| f32::from(byte) * (1.0 / 255.0)).collect();
        assert_eq!(Pixels::new(values), Pixels::Bytes(bytes.clone()));
        assert_eq!(Pixels::new(scaled), Pixels::Bytes(bytes));
        for other in [0.25, -1.0 / 255.0, 256.0 / 255.0, 1e9] {
            let values = vec![0.0, other, 1.0];
            assert_eq!(Pixels::new(values.clone()), Pixels::Floats(values.clone()));
            assert_eq!(Pixels::new(values.clone()).pick(1, &[1, 0]), [other, 0.0]);
        }
    }

    #[test]
    fn losses_by_hand() {
        let device = Device::flex();
        let goal = Goal::Values(Tensor::from_floats([[1.0], [2.0]], &device));
        let loss: f32 = goal.loss(Tensor::from_floats([[2.0], [5.0]], &device)).into_scalar();
        assert!((loss - 5.0).abs() < 1e-6);
        let goal = Goal::Classes(Tensor::from_ints([[0], [1]], &device));
        let loss: f32 = goal.loss(Tensor::from_floats([[0.0, 0.0], [0.0, 0.0]], &device)).into_scalar();
        assert!((loss - 2f32.ln()).abs() < 1e-6);
    }
}
