//! From a network to a model file.

use invar_data::Coding;
use invar_nn::Network;
use invar_program::{Candidate, Input, Member, Normalisation, Op, Program, Reading, Saved, Task, Tensor};
use serde::Serialize;

use super::exact::Exact;
use super::load::Loaded;
use super::prepare::Prepared;
use crate::error::{Error, Result};
use crate::scaling::{Scaling, TargetScaling};
use crate::screen::ScreenRecord;

/// Makes model files for one project.
pub(super) struct Bundle<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) prepared: &'a Prepared,
}

impl Bundle<'_> {
    /// The verdicts of a fit of the grid.
    pub(super) fn members_of_grid(&self, exact: &Exact) -> Vec<Member> {
        let member = |group: usize| {
            let name = self.loaded.groups[group].name().to_string();
            let (kept, cost) = (exact.kept.contains(group), exact.on_top[group]);
            // The penalty tells what the weights gave up, not that the data contradict it: nothing was trained with it imposed.
            let verdict = if kept { "kept" } else { "broken" };
            Member { name, kept, verdict: verdict.into(), cost: cost.map(|cost| cost.points) }
        };
        (0..self.loaded.groups.len()).map(member).collect()
    }

    /// The verdicts of a screen.
    pub(super) fn members_of_screen(record: &ScreenRecord) -> Vec<Member> {
        let member = |group: usize| Member {
            name: record.names[group].clone(),
            kept: record.kept.contains(group),
            verdict: record.findings[group].verdict.in_words().into(),
            cost: record.findings[group].tested.as_ref().map(|tested| tested.cost.points),
        };
        (0..record.names.len()).map(member).collect()
    }

    /// The model: the network folded, with what goes before and behind it. `scaling` is what was done to inputs.
    pub(super) fn saved(
        &self,
        network: &Network,
        scaling: Option<&Scaling>,
        members: &[Member],
        notes: &impl Serialize,
    ) -> Result<Saved> {
        let program = self.program(network)?;
        let classes = self.loaded.classes();
        let task = if classes.is_empty() { Task::Regression } else { Task::Classification { classes: classes.to_vec() } };
        let data = &self.loaded.project.data;
        // What the file calls them, not what became of them.
        let columns = Some(self.loaded.coding.as_ref().map_or_else(|| self.loaded.train.columns.clone(), Coding::names));
        let saved = Saved {
            normalisation: scaling.map(|scaling| Normalisation { mean: scaling.mean.clone(), scale: scaling.scale.clone() }),
            candidates: self.candidates(members)?,
            lattice: None,
            reading: Reading {
                // Also where the name of the training file told it: other files may have names that do not.
                format: Some(self.loaded.format),
                inputs: data.inputs.clone(),
                columns: columns.filter(|columns| !columns.is_empty()),
                coding: self.loaded.coding.clone(),
                label: data.label.clone(),
                header: data.header,
                shape: data.shape.clone(),
                stored: self.stored(),
                layout: data.layout,
                pad: data.pad.unwrap_or(false),
                resize: data.resize,
            },
            training: serde_json::to_value(notes).map_err(|error| Error::Setting {
                name: "notes",
                expected: "ones that can be written down".into(),
                got: error.to_string(),
            })?,
            ..Saved::new(program, task)
        };
        Ok(saved.tied()?)
    }

    /// The shape of examples in the files, where a reader makes another of it and does no more.
    fn stored(&self) -> Option<Vec<usize>> {
        let Loaded { project, train, coding, .. } = self.loaded;
        let plain = coding.is_none() && !project.data.pad.unwrap_or(false) && project.data.resize.is_none();
        Some(train.stored.clone()).filter(|stored| plain && !stored.is_empty() && *stored != train.shape)
    }

    /// The candidates as the user wrote them, each with the groups it stands for.
    fn candidates(&self, members: &[Member]) -> Result<Vec<Candidate>> {
        let mut rest = members.iter().cloned();
        let written = self.loaded.project.symmetries.candidates.iter();
        written
            .map(|candidate| {
                let count = candidate.groups(&self.loaded.shape)?.len();
                Ok(Candidate { written: candidate.to_string(), members: rest.by_ref().take(count).collect() })
            })
            .collect()
    }

    fn program(&self, network: &Network) -> Result<Program> {
        let input = match (self.prepared.problem.vocabulary, self.loaded.shape.sides()) {
            (Some(vocabulary), sides) => Input::Tokens { length: sides.iter().product(), vocabulary },
            (None, &[channels, height, width]) if self.loaded.architecture.takes_images() => {
                Input::Images { channels, height, width }
            }
            (None, sides) => Input::Array { shape: sides.to_vec() },
        };
        let mut program = invar_nn::lower(network, &input)?;
        if let Some(targets) = self.prepared.targets {
            stretch(&mut program.ops, targets)?;
        }
        Ok(program)
    }
}

/// Answers in the units of the labels: the last layer is stretched and moved.
fn stretch(ops: &mut [Op], targets: TargetScaling) -> Result<()> {
    let (weight, bias) = match ops {
        [.., Op::Linear { weight, bias }] => (weight, bias),
        [.., Op::Median { members }] => return members.iter_mut().try_for_each(|member| stretch(member, targets)),
        // The mean over all views: each gives its share.
        [.., Op::Orbit { ops, .. }, Op::Reshape { .. }, Op::PoolRows { sums, .. }] => {
            let mean = targets.mean / sums.values.len() as f64;
            return stretch(ops, TargetScaling { mean, ..targets });
        }
        _ => {
            let (expected, got) = ("a dense layer at the end of the network".into(), "another".into());
            return Err(Error::Setting { name: "regression", expected, got });
        }
    };
    let TargetScaling { mean, deviation } = targets;
    weight.values.iter_mut().for_each(|value| *value = (f64::from(*value) * deviation) as f32);
    let outputs = weight.shape[0];
    let bias = bias.get_or_insert_with(|| Tensor::vector(vec![0.0; outputs]));
    bias.values.iter_mut().for_each(|value| *value = (f64::from(*value) * deviation + mean) as f32);
    Ok(())
}
