//! From the user's tables to a problem that networks can be fitted to.

use invar_data::{Digest, Labels, Table};
use invar_nn::{Dataset, Inputs, Pixels, Targets};

use super::file::Learner;
use super::load::Loaded;
use super::train::learner;
use crate::error::{Error, Result};
use crate::guess::most_frequent;
use crate::identity::identity;
use crate::problem::{Data, Problem, Subspaces};
use crate::scaling::{Scaling, TargetScaling};
use crate::screen::Measure;

/// A problem made of the user's data.
#[derive(Debug)]
pub struct Prepared {
    /// What identifies it in records.
    pub data: Data,
    /// The data as networks see them.
    pub problem: Problem,
    /// What was done to inputs already; the learner screen does the rest, by what it imposes.
    pub scaling: Option<Scaling>,
    /// What was done to targets that are numbers.
    pub targets: Option<TargetScaling>,
}

impl Loaded {
    /// The data as networks take them.
    pub fn prepare(&self) -> Result<Prepared> {
        self.check_labels()?;
        let known = self.known.as_ref();
        let vocabulary = known.and_then(|known| known.vocabulary);
        let scaling = match learner(self)? {
            _ if vocabulary.is_some() => None,
            // The pixels of a task are what its network is made for.
            _ if self.architecture.takes_images() => {
                if known.is_none() {
                    Scaling::of_images(&self.train)
                } else {
                    None
                }
            }
            Learner::Cgreg => Some(Scaling::of_arrays(&self.train.inputs, self.train.width(), &self.groups)),
            Learner::Screen => None,
        };
        let targets = match &self.train.labels {
            Labels::Values(values) if known.is_none() => Some(TargetScaling::of(values)),
            _ => None,
        };
        let dataset = |table: &Table| self.dataset(table, scaling.as_ref(), targets);
        let (train, validation) = (dataset(&self.train)?, dataset(&self.validation)?);
        let test = self.test.as_ref().map(dataset).transpose()?;
        let measure = known.map_or_else(|| Measure::of(&validation), |known| known.measure);
        let chance = || most_frequent(measure, &train, test.as_ref().unwrap_or(&validation));
        let problem = Problem {
            subspaces: match self.weight_groups()? {
                none if none.is_empty() => Subspaces::free(self.shape.clone()),
                groups => Subspaces::of(groups)?,
            },
            symmetry: known.and_then(|known| known.symmetry.clone()),
            vocabulary,
            measure,
            chance: known.map_or_else(chance, |known| known.chance),
            pairs: self.pairs(scaling.as_ref()),
            train,
            validation,
            test,
        };
        Ok(Prepared { data: self.data()?, problem, scaling, targets })
    }

    /// Numbers that do not differ leave nothing to learn.
    fn check_labels(&self) -> Result<()> {
        for (part, table) in self.parts() {
            if let Labels::Values(values) = &table.labels
                && values.iter().all(|value| value.total_cmp(&values[0]).is_eq())
            {
                let value = values.first().map_or("none".into(), f32::to_string);
                let got = format!("{value} in all {part} data");
                return Err(Error::Setting { name: "labels", expected: "numbers that differ".into(), got });
            }
        }
        Ok(())
    }

    /// Coupled pairs as networks take them.
    fn pairs(&self, scaling: Option<&Scaling>) -> Option<[Dataset; 2]> {
        let pairs = self.known.as_ref()?.pairs.as_ref()?;
        Some(pairs.each_ref().map(|data| match scaling {
            Some(scaling) => data.clone().with_entries(|place, value| scaling.entry(place, value)),
            None => data.clone(),
        }))
    }

    /// What identifies the data: a task with its sizes, or everything about files that decides a fit.
    fn data(&self) -> Result<Data> {
        match &self.known {
            Some(known) if known.symmetry.is_some() => Ok(known.data),
            _ => Ok(Data::Files(self.digest()?)),
        }
    }

    /// Of everything about the data that decides a fit.
    fn digest(&self) -> Result<Digest> {
        let tables: Vec<Digest> = self.parts().map(|(_, table)| table.digest()).collect();
        identity(&(tables, &self.project.symmetries.candidates, self.architecture))
    }

    fn dataset(&self, table: &Table, scaling: Option<&Scaling>, targets: Option<TargetScaling>) -> Result<Dataset> {
        let width = table.width();
        let values = scaling.map_or_else(|| table.inputs.clone(), |scaling| scaling.apply(&table.inputs, width));
        let tokens = self.known.as_ref().is_some_and(|known| known.vocabulary.is_some());
        let inputs = match self.shape.sides() {
            _ if tokens => Inputs::Tokens { length: width, values: values.into_iter().map(|value| value as i32).collect() },
            &[channels, height, width] if self.architecture.takes_images() => {
                Inputs::Images { channels, height, width, values: Pixels::new(values) }
            }
            _ => Inputs::Array { dim: width, values },
        };
        let targets = match (&table.labels, targets) {
            (Labels::Classes { names, values }, _) => Targets::Classes { count: names.len(), labels: values.clone() },
            (Labels::Values(values), Some(scaling)) => Targets::Values(values.iter().map(|&v| scaling.scaled(v)).collect()),
            (Labels::Values(values), None) => Targets::Values(values.clone()),
            (Labels::None, _) => {
                let (expected, got) = ("one label per example".into(), "none".into());
                return Err(Error::Setting { name: "labels", expected, got });
            }
        };
        Ok(Dataset::new(inputs, targets)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Project;
    use invar_data::Missing;

    fn prepared(rows: &str, more: &str) -> Prepared {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), rows).unwrap();
        let text = format!("[data]\ntrain = \"a.csv\"\nlabel = \"y\"\n{more}");
        let project = Project::parse(&folder.path().join("invar.toml"), &text).unwrap();
        Loaded::load(project, Missing::Refuse).unwrap().prepare().unwrap()
    }

    #[test]
    fn arrays_come_as_they_are_and_are_counted() {
        let rows: Vec<String> = (0..20).map(|k| format!("{k},{},{}\n", 10 + k, ["no", "no", "yes"][k % 3])).collect();
        let rows = rows.concat();
        let more = "[task]\nkind = \"classification\"\n[symmetries]\ncandidates = [\"swap(0;0,1)\"]\n";
        let found = prepared(&format!("a,b,y\n{rows}"), more);
        let Inputs::Array { dim: 2, values } = found.problem.train.inputs() else { panic!("arrays expected") };
        // Scaling follows what is imposed, so it is left to whoever imposes.
        assert!(values.chunks(2).all(|row| (row[1] - row[0] - 10.0).abs() < 1e-6));
        assert_eq!((found.problem.train.len(), found.problem.validation.len()), (16, 4));
        assert!((found.problem.chance - 0.75).abs() < 1e-9 && found.problem.measure == Measure::Accuracy);
        // The same rows in another file are the same data; another candidate makes another problem.
        assert_eq!(found.data, prepared(&format!("a,b,y\n{rows}"), more).data);
        assert_ne!(found.data, prepared(&format!("a,b,y\n{rows}"), &more.replace("swap(0;0,1)", "negate")).data);
    }

    #[test]
    fn images_keep_every_digit_and_numbers_are_judged_by_r_squared() {
        let rows: Vec<String> = (0..10).map(|k| format!("{}{k}.5\n", "0,4,8,16,".repeat(4))).collect();
        let rows = rows.concat();
        let names: Vec<String> = (0..16).map(|k| format!("p{k}")).collect();
        let rows = format!("{},y\n{rows}", names.join(","));
        let more = "shape = [1, 4, 4]\n[task]\nkind = \"regression\"\n[symmetries]\ncandidates = [\"rot90(1,2)\"]\n";
        let found = prepared(&rows, more);
        let Inputs::Images { channels: 1, height: 4, width: 4, values } = found.problem.train.inputs() else { panic!("images") };
        let Pixels::Floats(values) = values else { panic!("quarters are no multiples of 1/255") };
        assert_eq!(values[..4], [0.0, 0.25, 0.5, 1.0]);
        assert!(matches!(found.problem.measure, Measure::RSquared { .. }));
        assert_eq!(found.problem.shape().sides(), [1, 3, 3]);
    }
}
