//! Candidates said by the names of columns: `exchange(a,b)`, `exchange(sensor)`.

use std::collections::BTreeMap;

use invar_algebra::{Candidate, Generator, Kind};

use super::families::{families, items};
use crate::error::{Error, Result};

/// Up to so many items every two are a candidate of their own; more are exchanged all together.
pub(super) const FEW_ITEMS: usize = 10;

/// What the columns of a table are called, and how they belong together.
pub(super) struct Names<'a> {
    pub(super) columns: &'a [String],
    pub(super) items: Option<&'a BTreeMap<String, Vec<Vec<String>>>>,
    /// Whether an example is one row of columns, so that they lie along its only axis.
    pub(super) flat: bool,
}

impl Names<'_> {
    /// The candidates with all that is said by names said by positions; what was written stays as their names.
    pub(super) fn resolve(&self, list: &[Candidate]) -> Result<Vec<Candidate>> {
        let mut resolved = Vec::new();
        for candidate in list {
            match &candidate.kind {
                Kind::Exchange { names, pair } => resolved.extend(self.exchange(candidate, names, *pair)?),
                _ => resolved.push(candidate.clone()),
            }
        }
        Ok(resolved)
    }

    /// The positions of the columns that belong together, and the items' name where it is one.
    fn blocks(&self, names: &[String]) -> Result<(Option<String>, Vec<Vec<usize>>)> {
        let wrong = |got: String| Error::Setting { name: "[symmetries] candidates", expected: self.expected(), got };
        if self.columns.is_empty() {
            return Err(wrong(format!("exchange({}) on data whose columns have no names", names.join(","))));
        }
        let column = |name: &String| {
            let place = self.columns.iter().position(|column| column == name);
            place.ok_or_else(|| wrong(format!("`{name}`, which is none of them")))
        };
        if let [name] = names {
            let said = self.items.and_then(|items| items.get(name)).cloned();
            let found =
                || items(&families(self.columns)).into_iter().find(|items| items.name == *name).map(|items| items.columns);
            let items = said.or_else(found).ok_or_else(|| wrong(format!("`{name}` alone, which is no kind of items")))?;
            let blocks: Vec<Vec<usize>> =
                items.iter().map(|columns| columns.iter().map(column).collect()).collect::<Result<_>>()?;
            return Ok((Some(name.clone()), blocks));
        }
        Ok((None, names.iter().map(|name| Ok(vec![column(name)?])).collect::<Result<_>>()?))
    }

    fn exchange(&self, candidate: &Candidate, names: &[String], pair: Option<[usize; 2]>) -> Result<Vec<Candidate>> {
        let (items, blocks) = self.blocks(names)?;
        let wrong = |expected: String, got: String| Error::Setting { name: "[symmetries] candidates", expected, got };
        let mut seen = vec![false; self.columns.len()];
        let twice = blocks.iter().flatten().find(|&&column| std::mem::replace(&mut seen[column], true));
        if let Some(&column) = twice {
            return Err(wrong("each column once in what is exchanged".into(), format!("`{}` twice", self.columns[column])));
        }
        let count = blocks.len();
        if count < 2 || blocks.iter().any(|block| block.is_empty() || block.len() != blocks[0].len()) {
            return Err(wrong("two items or more, each of as many columns".into(), candidate.to_string()));
        }
        if let Some(beyond) = pair.and_then(|pair| pair.into_iter().find(|&item| item > count)) {
            return Err(wrong(format!("items from 1 to {count}"), format!("{beyond} in {candidate}")));
        }
        let whole = pair.is_none() && items.is_some() && count > FEW_ITEMS;
        if whole {
            // Two generators make every permutation: an exchange, and a turn of all.
            let turn: Vec<usize> = (0..count).map(|item| (item + 1) % count).collect();
            let list = vec![self.images(&blocks, &exchanged(count, 0, 1)), self.images(&blocks, &turn)];
            let name = candidate.name.clone().unwrap_or_else(|| candidate.kind.to_string());
            return Ok(vec![Candidate { name: Some(name), kind: Kind::Generators { axes: Vec::new(), list } }]);
        }
        let pairs = match pair {
            Some([i, j]) => vec![(i - 1, j - 1)],
            None => (0..count).flat_map(|i| (i + 1..count).map(move |j| (i, j))).collect(),
        };
        let named = |(i, j): (usize, usize)| {
            let kind = match &items {
                Some(name) => Kind::Exchange { names: vec![name.clone()], pair: Some([i + 1, j + 1]) },
                None => Kind::Exchange { names: vec![names[i].clone(), names[j].clone()], pair: None },
            };
            let name = match &candidate.name {
                Some(name) if count > 2 && pair.is_none() => format!("{name}({},{})", i + 1, j + 1),
                Some(name) => name.clone(),
                None => kind.to_string(),
            };
            let kind = match (&blocks[i][..], &blocks[j][..]) {
                (&[a], &[b]) if self.flat => Kind::Swap { axes: vec![0], pair: [a.min(b), a.max(b)] },
                _ => Kind::Generators { axes: Vec::new(), list: vec![self.images(&blocks, &exchanged(count, i, j))] },
            };
            Candidate { name: Some(name), kind }
        };
        Ok(pairs.into_iter().map(named).collect())
    }

    /// Where each column goes when items do.
    fn images(&self, blocks: &[Vec<usize>], items: &[usize]) -> Generator {
        let mut images: Vec<usize> = (0..self.columns.len()).collect();
        for (from, &to) in blocks.iter().zip(items) {
            from.iter().zip(&blocks[to]).for_each(|(&from, &to)| images[from] = to);
        }
        Generator::Images(images.into_iter().map(|image| (false, image)).collect())
    }

    fn expected(&self) -> String {
        let short = |names: Vec<String>| {
            let shown: Vec<String> = names.iter().take(12).map(|name| format!("`{name}`")).collect();
            if names.len() > 12 { format!("{} and {} more", shown.join(", "), names.len() - 12) } else { shown.join(", ") }
        };
        let said = self.items.iter().flat_map(|items| items.keys().cloned());
        let found = items(&families(self.columns)).into_iter().map(|items| items.name);
        let kinds: Vec<String> = said.chain(found).collect();
        let columns = format!("names of columns ({})", short(self.columns.to_vec()));
        if kinds.is_empty() { columns } else { format!("items ({}) or {columns}", short(kinds)) }
    }
}

fn exchanged(count: usize, i: usize, j: usize) -> Vec<usize> {
    let mut images: Vec<usize> = (0..count).collect();
    images.swap(i, j);
    images
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(columns: &str, items: &[(&str, &[&str])], candidate: &str) -> Result<Vec<String>> {
        let columns: Vec<String> = columns.split(' ').map(Into::into).collect();
        let split = |text: &&str| text.split(' ').map(Into::into).collect::<Vec<String>>();
        let items: BTreeMap<String, Vec<Vec<String>>> =
            items.iter().map(|(name, columns)| ((*name).to_owned(), columns.iter().map(split).collect())).collect();
        let names = Names { columns: &columns, items: Some(&items), flat: true };
        Ok(names.resolve(&[candidate.parse()?])?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn names_become_positions_and_stay_as_names() {
        assert_eq!(resolve("a b c", &[], "exchange(c,a)").unwrap(), ["exchange(c,a)=swap(0;0,2)"]);
        assert_eq!(
            resolve("a b c", &[], "exchange(a,b,c)").unwrap(),
            ["exchange(a,b)=swap(0;0,1)", "exchange(a,c)=swap(0;0,2)", "exchange(b,c)=swap(0;1,2)"]
        );
        assert_eq!(resolve("a b", &[], "my=exchange(a,b)").unwrap(), ["my=swap(0;0,1)"]);
        let items: &[(&str, &[&str])] = &[("pair", &["a c", "b d"])];
        assert_eq!(resolve("a b c d", items, "exchange(pair)").unwrap(), ["exchange(pair;1,2)=generators([[1,0,3,2]])"]);
        // Without being told: numbered columns are items.
        assert_eq!(
            resolve("u p1 p2 p3 q1 q2 q3", &[], "exchange(item;2,3)").unwrap(),
            ["exchange(item;2,3)=generators([[0,1,3,2,4,6,5]])"]
        );
        let many: Vec<String> = (1..=11).map(|k| format!("s{k}")).collect();
        assert_eq!(
            resolve(&many.join(" "), &[], "exchange(s)").unwrap(),
            ["exchange(s)=generators([[1,0,2,3,4,5,6,7,8,9,10],[1,2,3,4,5,6,7,8,9,10,0]])"]
        );
        assert_eq!(resolve("a b", &[], "flip(0)").unwrap(), ["flip(0)"]);
    }

    #[test]
    fn names_that_are_none_are_told() {
        for (candidate, part) in [
            ("exchange(a,z)", "but is `z`, which is none of them"),
            ("exchange(a)", "but is `a` alone, which is no kind of items"),
            ("exchange(a,a)", "but is `a` twice"),
            ("exchange(pair;1,3)", "should be items from 1 to 2, but is 3 in exchange(pair;1,3)"),
            ("exchange(odd)", "each of as many columns"),
        ] {
            let items: &[(&str, &[&str])] = &[("pair", &["a", "b"]), ("odd", &["a", "b c"])];
            let error = resolve("a b c", items, candidate).unwrap_err().to_string();
            assert!(error.contains(part), "{candidate}: {error}");
        }
    }
}
