//! The image tasks: which digits there are, which groups move them, and what a label says of both.

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// Digits to recognise, together with how they were moved by the groups that matter (Appendix on images).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImageTask {
    /// The digits 3 and 4, which no turn or mirror confuses. The label has the exact element of every group in D.
    Mnist34,
    /// All ten digits. The label has one bit for every group in D: whether the element is in the second half of the group.
    Mnist,
}

/// A group that moves images; elements count as powers of its generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageGroup {
    /// Quarter turns, against the clock.
    Rot,
    /// Red becomes green, green blue, blue red.
    Color,
    /// The top becomes the bottom.
    Vflip,
}

impl ImageGroup {
    /// All groups, in the order in which they act and are counted in labels, as published. (The order matters: a turn and a
    /// flip do not commute. The colour commutes with both.)
    pub const ALL: [Self; 3] = [Self::Rot, Self::Color, Self::Vflip];

    /// The name of the group.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rot => "rot",
            Self::Color => "color",
            Self::Vflip => "vflip",
        }
    }

    /// The candidate that a learner is offered, in shorthand.
    pub fn candidate(self) -> &'static str {
        match self {
            Self::Rot => "rot=rot90(1,2)",
            Self::Color => "color=permute(0)",
            Self::Vflip => "vflip=flip(1)",
        }
    }

    /// The group that moves the data, in shorthand: the colours only cycle, because exchanging two empty channels changes
    /// nothing and the label would be ambiguous.
    pub(crate) fn on_data(self) -> &'static str {
        match self {
            Self::Color => "color=cycle(0)",
            Self::Rot | Self::Vflip => self.candidate(),
        }
    }

    /// Number of elements that move the data.
    pub fn order(self) -> usize {
        match self {
            Self::Rot => 4,
            Self::Color => 3,
            Self::Vflip => 2,
        }
    }
}

/// The subset I of the three groups that the label ignores: the four cases of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum Invariant {
    /// No group: everything matters.
    #[serde(rename = "none")]
    None,
    /// The colour.
    #[serde(rename = "color")]
    Color,
    /// Turns and flips.
    #[serde(rename = "rot,vflip")]
    RotVflip,
    /// All of them: only the digit matters.
    #[default]
    #[serde(rename = "rot,color,vflip")]
    RotColorVflip,
}

impl Invariant {
    /// All four, in the order of the paper's tables.
    pub const ALL: [Self; 4] = [Self::RotColorVflip, Self::RotVflip, Self::Color, Self::None];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Color => "color",
            Self::RotVflip => "rot,vflip",
            Self::RotColorVflip => "rot,color,vflip",
        }
    }

    /// The subset of this name; the order of the groups, upper case and spaces do not matter.
    ///
    /// ```
    /// # use invar_tasks::Invariant;
    /// assert_eq!(Invariant::by_name("vflip, rot")?, Invariant::RotVflip);
    /// let error = Invariant::by_name("rot").unwrap_err().to_string();
    /// assert_eq!(error, "unknown invariance `rot`; it is one of rot,color,vflip | rot,vflip | color | none");
    /// # Ok::<(), invar_tasks::Error>(())
    /// ```
    pub fn by_name(name: &str) -> Result<Self> {
        let sorted = |text: &str| {
            let mut words: Vec<String> = text.split(',').map(|word| word.trim().to_lowercase()).collect();
            words.sort_unstable();
            words
        };
        let wanted = sorted(name);
        Self::ALL.into_iter().find(|known| sorted(known.name()) == wanted).ok_or_else(|| Error::UnknownInvariant {
            name: name.to_string(),
            known: Self::ALL.into_iter().map(Self::name).collect(),
        })
    }

    /// Whether the label ignores a group.
    pub fn contains(self, group: ImageGroup) -> bool {
        match self {
            Self::None => false,
            Self::Color => group == ImageGroup::Color,
            Self::RotVflip => group != ImageGroup::Color,
            Self::RotColorVflip => true,
        }
    }

    /// I, as positions in [`ImageGroup::ALL`].
    pub fn irrelevant(self) -> GroupSet {
        (0..ImageGroup::ALL.len()).filter(|&k| self.contains(ImageGroup::ALL[k])).collect()
    }

    /// D, the other groups.
    pub fn depends(self) -> GroupSet {
        (0..ImageGroup::ALL.len()).filter(|&k| !self.contains(ImageGroup::ALL[k])).collect()
    }

    /// The groups in D, in order.
    fn counted(self) -> impl DoubleEndedIterator<Item = ImageGroup> {
        ImageGroup::ALL.into_iter().filter(move |&group| !self.contains(group))
    }
}

impl ImageTask {
    /// All tasks.
    pub const ALL: [Self; 2] = [Self::Mnist34, Self::Mnist];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mnist34 => "mnist34",
            Self::Mnist => "mnist",
        }
    }

    /// What is to be predicted and what may be exchanged, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Mnist34 => "digit 3 or 4 with its exact turn, colour and flip; the label may ignore some of them",
            Self::Mnist => "digit 0 to 9 with the half its turn, colour and flip fall in; the label may ignore some of them",
        }
    }

    /// The digits.
    pub fn digits(self) -> &'static [u8] {
        match self {
            Self::Mnist34 => &[3, 4],
            Self::Mnist => &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
        }
    }

    /// In how many parts a label divides a group in D.
    fn parts(self, group: ImageGroup) -> usize {
        match self {
            Self::Mnist34 => group.order(),
            Self::Mnist => 2,
        }
    }

    /// The part in which an element is: itself, or the half of the group.
    fn part(self, group: ImageGroup, power: usize) -> usize {
        match self {
            Self::Mnist34 => power,
            Self::Mnist => usize::from(power >= group.order() / 2),
        }
    }

    /// Number of classes.
    pub fn classes(self, invariant: Invariant) -> usize {
        invariant.counted().fold(self.digits().len(), |count, group| count * self.parts(group))
    }

    /// The class of a digit moved by a power of each group in D: digit first, then the groups in order.
    ///
    /// The digit must be one of the task, and there must be as many powers as groups in D.
    pub(crate) fn class(self, invariant: Invariant, digit: u8, powers: &[usize]) -> usize {
        let place = self.digits().iter().position(|&known| known == digit).expect("a digit of the task");
        assert_eq!(powers.len(), invariant.counted().count(), "one power for each group in D");
        invariant.counted().zip(powers).fold(place, |class, (group, &power)| class * self.parts(group) + self.part(group, power))
    }

    /// What a class stands for, such as "3, turned 90°, mirrored, green"; none beyond the last class.
    pub fn class_name(self, invariant: Invariant, class: usize) -> Option<String> {
        if class >= self.classes(invariant) {
            return None;
        }
        let mut rest = class;
        let mut parts = [None; 3];
        for group in invariant.counted().rev() {
            parts[group as usize] = Some(rest % self.parts(group));
            rest /= self.parts(group);
        }
        // In the order in which one would say it: the colour last.
        let spoken = [ImageGroup::Rot, ImageGroup::Vflip, ImageGroup::Color];
        let words = spoken.into_iter().filter_map(|group| self.word(group, parts[group as usize]?));
        Some(std::iter::once(self.digits()[rest].to_string()).chain(words.map(String::from)).collect::<Vec<_>>().join(", "))
    }

    /// A part of a group in words; what is not mirrored needs none.
    fn word(self, group: ImageGroup, part: usize) -> Option<&'static str> {
        let words: &[&str] = match (self, group) {
            (_, ImageGroup::Vflip) => return (part == 1).then_some("mirrored"),
            (Self::Mnist34, ImageGroup::Rot) => &["upright", "turned 90°", "turned 180°", "turned 270°"],
            (Self::Mnist34, ImageGroup::Color) => &["red", "green", "blue"],
            (Self::Mnist, ImageGroup::Rot) => &["0° or 90°", "180° or 270°"],
            (Self::Mnist, ImageGroup::Color) => &["red", "not red"],
        };
        words.get(part).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_counts_are_those_of_the_paper() {
        let counts = |task: ImageTask| Invariant::ALL.map(|invariant| task.classes(invariant));
        assert_eq!(counts(ImageTask::Mnist34), [2, 6, 16, 48]);
        assert_eq!(counts(ImageTask::Mnist), [10, 20, 40, 80]);
    }

    #[test]
    fn classes_by_hand() {
        use {ImageTask::*, Invariant as I};
        for (task, invariant, digit, powers, class, name) in [
            (Mnist34, I::RotColorVflip, 4, &[][..], 1, "4"),
            (Mnist34, I::RotVflip, 3, &[2], 2, "3, blue"),
            (Mnist34, I::Color, 4, &[3, 1], 15, "4, turned 270°, mirrored"),
            (Mnist34, I::Color, 3, &[1, 0], 2, "3, turned 90°"),
            (Mnist34, I::None, 3, &[1, 1, 1], 9, "3, turned 90°, mirrored, green"),
            (Mnist34, I::None, 4, &[0, 0, 0], 24, "4, upright, red"),
            (Mnist, I::RotColorVflip, 7, &[], 7, "7"),
            (Mnist, I::RotVflip, 7, &[0], 14, "7, red"),
            (Mnist, I::RotVflip, 7, &[1], 15, "7, not red"),
            (Mnist, I::RotVflip, 7, &[2], 15, "7, not red"),
            (Mnist, I::Color, 0, &[1, 1], 1, "0, 0° or 90°, mirrored"),
            (Mnist, I::Color, 0, &[2, 0], 2, "0, 180° or 270°"),
            (Mnist, I::None, 9, &[3, 2, 1], 79, "9, 180° or 270°, mirrored, not red"),
        ] {
            assert_eq!(task.class(invariant, digit, powers), class, "{name}");
            assert_eq!(task.class_name(invariant, class).as_deref(), Some(name));
        }
    }

    #[test]
    fn every_class_has_its_own_name() {
        for task in ImageTask::ALL {
            for invariant in Invariant::ALL {
                let count = task.classes(invariant);
                let names: std::collections::BTreeSet<_> = (0..count).filter_map(|c| task.class_name(invariant, c)).collect();
                assert_eq!(names.len(), count);
                assert_eq!(task.class_name(invariant, count), None);
            }
        }
    }

    #[test]
    fn subsets_are_found_by_name_and_complement_each_other() {
        for invariant in Invariant::ALL {
            assert_eq!(Invariant::by_name(invariant.name()), Ok(invariant));
            let both: GroupSet = invariant.irrelevant().iter().chain(invariant.depends().iter()).collect();
            assert_eq!(both, GroupSet::full(3));
        }
        assert_eq!(Invariant::by_name("Vflip,color,ROT"), Ok(Invariant::RotColorVflip));
        for wrong in ["", "rot,color", "rot,rot,vflip", "all"] {
            assert!(Invariant::by_name(wrong).is_err(), "{wrong}");
        }
    }
}
