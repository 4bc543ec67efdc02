//! Loss, accuracy and predictions of a trained network.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::data::{Dataset, Targets};
use crate::network::Model;
use crate::readout::read;
use crate::step::{check_outputs, check_tokens, device_of};
use crate::{Pass, Result};

/// How well a network does on a dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Mean loss over examples.
    pub loss: f64,
    /// Share answered right: the rounded output equals the target, or the largest output is the class.
    pub accuracy: f64,
    /// The output of each example, or its class.
    pub predictions: Vec<f64>,
}

impl Evaluation {
    /// Whether each example was answered right.
    pub fn correct(&self, data: &Dataset) -> Vec<bool> {
        self.predictions.iter().enumerate().map(|(i, p)| right(*p, data.targets(), i)).collect()
    }
}

/// Evaluates in batches on the plain device; nothing is random.
pub fn evaluate<M: Model>(model: &M, data: &Dataset) -> Result<Evaluation> {
    check_tokens(model, data)?;
    let device = device_of(model)?;
    // Training mode follows the device, so a model that still sits on the autodiff device is moved off it.
    let model = model.valid();
    evaluate_on(&model, data, &device)
}

/// Mean loss and accuracy of a model that is already on the plain device.
pub(crate) fn losses<M: Model>(model: &M, data: &Dataset, device: &Device) -> Result<(f64, f64)> {
    let evaluation = evaluate_on(model, data, device)?;
    Ok((evaluation.loss, evaluation.accuracy))
}

fn evaluate_on<M: Model>(model: &M, data: &Dataset, device: &Device) -> Result<Evaluation> {
    let rows: Vec<usize> = (0..data.len()).collect();
    let (mut loss, mut predictions) = (0.0, Vec::with_capacity(data.len()));
    for rows in rows.chunks(model.batch().max(1)) {
        let (input, goal) = data.batch(rows, None, device);
        let outputs = model.forward(input, &mut Pass::evaluate())?;
        check_outputs(&outputs, data)?;
        let width = outputs.dims()[1];
        for output in read(&outputs)?.chunks(width) {
            predictions.push(match data.targets() {
                Targets::Values(_) => output[0],
                Targets::Classes { .. } => largest(output) as f64,
            });
        }
        loss += f64::from(goal.loss(outputs).into_scalar::<f32>()) * rows.len() as f64;
    }
    let hits = (0..data.len()).filter(|&i| right(predictions[i], data.targets(), i)).count();
    let count = data.len() as f64;
    Ok(Evaluation { loss: loss / count, accuracy: hits as f64 / count, predictions })
}

pub(crate) fn right(prediction: f64, targets: &Targets, i: usize) -> bool {
    match targets {
        Targets::Values(values) => (prediction.round() - f64::from(values[i])).abs() < 1e-3,
        Targets::Classes { labels, .. } => (prediction - labels[i] as f64).abs() < 0.5,
    }
}

/// The first of the largest; what is no number never is.
pub(crate) fn largest<T: PartialOrd>(values: &[T]) -> usize {
    (0..values.len()).fold(0, |best, i| if values[i] > values[best] { i } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_rounds() {
        let targets = Targets::Values(vec![3.0, 3.0, -2.0]);
        assert!(right(3.4, &targets, 0) && !right(3.6, &targets, 1) && right(-2.2, &targets, 2));
        assert!(!right(f64::NAN, &targets, 0));
    }

    #[test]
    fn first_of_equal_classes_wins() {
        assert_eq!(largest(&[1.0, 3.0, 3.0]), 1);
        assert_eq!(largest(&[f64::NAN, 1.0]), 0);
    }
}
