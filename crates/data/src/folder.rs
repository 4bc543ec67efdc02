//! A folder of images: one sub-folder per class, whose name is the name of the class.

use std::fs;
use std::path::{Path, PathBuf};

use crate::assemble::Raw;
use crate::element::Column;
use crate::error::{Error, Result, dims, origin};
use crate::fit::Fit;
use crate::image::{self, Alpha, Image, is_image};
use crate::limits::Budget;
use crate::source::Source;
use crate::write::is_claimed;

pub(crate) fn read(source: &Source, budget: &mut Budget) -> Result<Raw> {
    let origin = source.origin();
    let found = if source.path.is_file() { Found::one(source, &origin)? } else { Found::list(source, &origin, budget)? };
    let files = found.choose(source.limit);
    if files.is_empty() {
        let expected = "PNG, JPEG, PGM or PPM images";
        return Err(Error::mismatch(&origin, "the folder", expected, "no such file"));
    }
    let (shape, inputs, told) = Pictures { files: &files, fit: source.fit(), colours: 1 }.read(budget)?;
    let mut notes = found.notes();
    notes.extend(told);
    let column = source.wants_labels().then(|| Column::Texts(files.iter().map(|file| file.class.clone()).collect()));
    let ids = files.iter().map(|file| file.id.clone()).collect();
    Ok(Raw { shape: shape.to_vec(), inputs, column, ids, notes, ..Raw::default() })
}

/// See [`Source::common_size`].
pub(crate) fn common_size(source: &Source, most: usize, budget: &mut Budget) -> Result<Option<[usize; 2]>> {
    let found = Found::list(source, &source.origin(), budget)?;
    let (mut heights, mut widths) = (Vec::new(), Vec::new());
    for file in found.choose(source.limit) {
        let [_, height, width] = image::read(&file.path, budget)?.shape;
        heights.push(height);
        widths.push(width);
    }
    let middle = |sides: &mut Vec<usize>| {
        sides.sort_unstable();
        let alike = sides.first() == sides.last();
        sides.get(sides.len() / 2).map(|&side| (alike, side))
    };
    let Some(((one, height), (same, width))) = middle(&mut heights).zip(middle(&mut widths)) else { return Ok(None) };
    let long = height.max(width);
    if one && same && long <= most {
        return Ok(None);
    }
    let fitted = |side: usize| if long > most { (side * most + long / 2) / long } else { side };
    Ok(Some([fitted(height).max(1), fitted(width).max(1)]))
}

/// Pictures that are to have one shape.
struct Pictures<'a> {
    files: &'a [&'a ImageFile],
    fit: Fit,
    /// Channels that each has at least: grey ones get three where another is in colour.
    colours: usize,
}

impl Pictures<'_> {
    /// The shape and the values of all, and what there is to tell.
    fn read(self, budget: &mut Budget) -> Result<([usize; 3], Vec<f32>, Vec<String>)> {
        let first = self.one(0, budget)?;
        let shape = first.shape;
        let total = shape.iter().product::<usize>().saturating_mul(self.files.len());
        budget.take(
            &origin(&self.files[0].path),
            &format!("{} images of this size", self.files.len()),
            total,
            size_of::<f32>(),
        )?;
        let mut inputs = Vec::with_capacity(total);
        let (mut opaque, mut clear, mut grey) = (0, 0, 0);
        for index in 0..self.files.len() {
            let image = if index == 0 { first.clone() } else { self.one(index, budget)? };
            if image.shape[0] == 3 && shape[0] == 1 {
                // The first in colour: all over again, once.
                return Self { colours: 3, ..self }.read(budget);
            }
            if image.shape != shape {
                let expected =
                    format!("{} as {} (or `resize = [64, 64]` under [data])", describe(shape), origin(&self.files[0].path));
                return Err(Error::mismatch(&origin(&self.files[index].path), "the image", expected, describe(image.shape)));
            }
            opaque += usize::from(image.alpha == Alpha::Opaque);
            clear += usize::from(image.alpha == Alpha::Clear);
            grey += usize::from(image.grey && shape[0] == 3);
            inputs.extend(image.values);
        }
        let tell = |count: usize, what: &str| (count > 0).then(|| format!("{count} images {what}"));
        let told = [
            tell(opaque, "had an alpha channel that was opaque everywhere; it was left out"),
            tell(clear, "have transparent pixels; they were laid on white"),
            tell(grey, "are grey, others in colour: grey became three equal channels"),
        ];
        Ok((shape, inputs, told.into_iter().flatten().collect()))
    }

    /// One picture, fitted.
    fn one(&self, index: usize, budget: &Budget) -> Result<Image> {
        let Image { shape: [channels, height, width], values, alpha, grey } = image::read(&self.files[index].path, budget)?;
        let values = if self.fit.is_none() { values } else { self.fit.picture(&values, [height, width]) };
        let [height, width] = self.fit.size([height, width]);
        let copies = if channels < self.colours { self.colours } else { 1 };
        Ok(Image { shape: [channels * copies, height, width], values: values.repeat(copies), alpha, grey })
    }
}

fn describe(shape: [usize; 3]) -> String {
    let colours = if shape[0] == 1 { "grey" } else { "RGB" };
    format!("{} pixels (height x width), {colours}", dims(&shape[1..]))
}

struct ImageFile {
    path: PathBuf,
    class: String,
    /// Its path inside the folder.
    id: String,
}

/// What a folder holds.
#[derive(Default)]
struct Found {
    /// Images by class, in order of their names.
    classes: Vec<Vec<ImageFile>>,
    skipped: Vec<String>,
}

impl Found {
    /// A single picture, of no class.
    fn one(source: &Source, origin: &str) -> Result<Self> {
        if source.wants_labels() {
            let got = "a single picture, whose class nothing tells";
            return Err(Error::mismatch(origin, "the path", "a folder with one sub-folder per class", got));
        }
        let file = ImageFile { path: source.path.clone(), class: String::new(), id: name(&source.path) };
        Ok(Self { classes: vec![vec![file]], skipped: Vec::new() })
    }

    fn list(source: &Source, origin: &str, budget: &mut Budget) -> Result<Self> {
        let mut found = Self::default();
        let mut loose = Vec::new();
        let entries = sorted(&source.path, budget)?;
        for path in entries {
            if path.is_dir() {
                // The output of an earlier run is no class.
                if !is_claimed(&path) {
                    found.class(&path, budget)?;
                }
            } else {
                loose.push(path);
            }
        }
        if source.wants_labels() {
            if found.classes.is_empty() {
                let got = "none: put the images of each class in a folder of its own";
                return Err(Error::mismatch(origin, "the folder", "one sub-folder per class", got));
            }
            found.skipped.extend(loose.iter().map(|path| name(path)));
        } else {
            found.add(&loose, "");
        }
        Ok(found)
    }

    fn class(&mut self, folder: &Path, budget: &mut Budget) -> Result<()> {
        let class = folder.file_name().and_then(|name| name.to_str());
        let class = class.ok_or_else(|| Error::request(&origin(folder), "the name of a class must be Unicode"))?;
        if !self.add(&sorted(folder, budget)?, class) {
            let expected = "PNG, JPEG, PGM or PPM images";
            return Err(Error::mismatch(&origin(folder), "the folder of a class", expected, "no such file"));
        }
        Ok(())
    }

    /// Adds the images among `paths`; whether there were any.
    fn add(&mut self, paths: &[PathBuf], class: &str) -> bool {
        let (images, others): (Vec<&PathBuf>, Vec<&PathBuf>) = paths.iter().partition(|path| is_image(path) && !path.is_dir());
        let id = |path: &Path| if class.is_empty() { name(path) } else { format!("{class}/{}", name(path)) };
        self.skipped.extend(others.into_iter().map(|path| id(path)));
        let make = |path: &PathBuf| ImageFile { path: path.clone(), class: class.to_owned(), id: id(path) };
        let images: Vec<ImageFile> = images.into_iter().map(make).collect();
        let any = !images.is_empty();
        self.classes.extend(any.then_some(images));
        any
    }

    /// All images, or so many, taken from the classes in turn.
    fn choose(&self, limit: Option<usize>) -> Vec<&ImageFile> {
        let most = self.classes.iter().map(Vec::len).max().unwrap_or(0);
        let mut counts = vec![0; self.classes.len()];
        let mut left = limit.unwrap_or(usize::MAX);
        for round in 0..most {
            for (count, class) in counts.iter_mut().zip(&self.classes) {
                if left > 0 && round < class.len() {
                    *count += 1;
                    left -= 1;
                }
            }
        }
        self.classes.iter().zip(counts).flat_map(|(class, count)| &class[..count]).collect()
    }

    fn notes(&self) -> Vec<String> {
        let first = self.skipped.first();
        first
            .map(|first| format!("skipped what is not an image: {} in all, such as {first}", self.skipped.len()))
            .into_iter()
            .collect()
    }
}

/// What is in a folder, hidden files left out, in order of the names.
fn sorted(folder: &Path, budget: &mut Budget) -> Result<Vec<PathBuf>> {
    let origin = origin(folder);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(Error::opening(&origin))? {
        let path = entry.map_err(Error::io(&origin, "list the folder"))?.path();
        if !name(&path).starts_with('.') {
            // The path, the class and the name inside the folder are kept for each.
            budget.take(&origin, "the list of files", 3, path.as_os_str().len() + 2 * size_of::<PathBuf>())?;
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::source::Task;
    use crate::table::{Labels, Table};

    fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, bytes) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        folder
    }

    fn load(files: &[(&str, &[u8])], task: Task, limit: Option<usize>) -> Result<Table> {
        let folder = folder(files);
        Source { limit, ..Source::new(folder.path(), task) }.load(Limits::new(1 << 20))
    }

    const DARK: &[u8] = b"P5 1 1 255\n\x00";
    const LIGHT: &[u8] = b"P5 1 1 255\n\xff";

    #[test]
    fn folders_are_classes_in_order() {
        let files: [(&str, &[u8]); 5] =
            [("dog/b.pgm", LIGHT), ("cat/2.pgm", DARK), ("cat/10.pgm", LIGHT), ("cat/.hidden", b"x"), ("cat/notes.txt", b"x")];
        let table = load(&files, Task::Classification, None).unwrap();
        assert_eq!(table.ids, ["cat/10.pgm", "cat/2.pgm", "dog/b.pgm"]);
        assert_eq!(table.inputs, [1.0, 0.0, 1.0]);
        assert_eq!(table.shape, [1, 1, 1]);
        assert_eq!(table.labels, Labels::Classes { names: vec!["cat".into(), "dog".into()], values: vec![0, 0, 1] });
        assert_eq!(table.notes, ["skipped what is not an image: 1 in all, such as cat/notes.txt"]);
        let two = load(&files, Task::Classification, Some(2)).unwrap();
        assert_eq!(two.ids, ["cat/10.pgm", "dog/b.pgm"]);
    }

    #[test]
    fn what_invar_wrote_is_no_class() {
        let folder = folder(&[("cat/a.pgm", DARK), ("dog/b.pgm", LIGHT)]);
        let run = folder.path().join("run");
        crate::claim(&run).unwrap();
        fs::write(run.join("sheet.pgm"), DARK).unwrap();
        for task in [Task::Classification, Task::Prediction] {
            let table = Source::new(folder.path(), task).load(Limits::new(1 << 20)).unwrap();
            assert_eq!(table.ids, ["cat/a.pgm", "dog/b.pgm"]);
        }
    }

    #[test]
    fn predictions_need_no_sub_folders() {
        let table = load(&[("b.pgm", LIGHT), ("a.pgm", DARK)], Task::Prediction, None).unwrap();
        assert_eq!((table.ids, table.inputs), (vec!["a.pgm".into(), "b.pgm".into()], vec![0.0, 1.0]));
        assert!(load(&[("a.txt", b"x")], Task::Prediction, None).unwrap_err().to_string().contains("no such file"));
    }

    #[test]
    fn images_of_another_size_name_both_files() {
        let error = load(&[("a/1.pgm", DARK), ("b/2.pgm", b"P5 2 1 255\n\x00\x00")], Task::Classification, None).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("2.pgm: the image: expected 1x1 pixels (height x width), grey as "), "{error}");
        assert!(error.contains("), got 1x2 pixels (height x width), grey"), "{error}");
        let colour = load(&[("a/1.pgm", LIGHT), ("b/2.ppm", b"P6 1 1 255\n\0\0\0")], Task::Classification, None).unwrap();
        assert_eq!((colour.shape, colour.inputs), (vec![3, 1, 1], vec![1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
        assert_eq!(colour.notes, ["1 images are grey, others in colour: grey became three equal channels"]);
    }

    #[test]
    fn pictures_of_any_size_are_fitted_and_one_alone_is_read() {
        let folder =
            folder(&[("a/1.pgm", b"P5 2 1 255\n\xff\xff"), ("b/2.pgm", b"P5 4 4 255\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")]);
        let source = Source::new(folder.path(), Task::Classification);
        let fitted = |pad, resize| Source { pad, resize, ..source.clone() }.load(Limits::new(1 << 20)).unwrap();
        assert_eq!(fitted(false, Some([1, 1])).inputs, [1.0, 0.0]);
        assert_eq!(fitted(true, Some([1, 1])).inputs, [0.5, 0.0]);
        assert_eq!(fitted(true, Some([2, 2])).shape, [1, 2, 2]);
        let path = folder.path().join("a/1.pgm");
        let one = Source::new(&path, Task::Prediction).load(Limits::new(1 << 20)).unwrap();
        assert_eq!((one.ids, one.shape), (vec!["1.pgm".to_owned()], vec![1, 1, 2]));
        let error = Source::new(&path, Task::Classification).load(Limits::new(1 << 20)).unwrap_err().to_string();
        assert!(error.ends_with("got a single picture, whose class nothing tells"), "{error}");
    }

    #[test]
    fn folders_without_classes_are_refused() {
        let message = |files: &[(&str, &[u8])]| load(files, Task::Classification, None).unwrap_err().to_string();
        assert!(message(&[("a.pgm", DARK)]).contains("one sub-folder per class"));
        assert!(message(&[("a/a.pgm", DARK)]).contains("two classes or more, got only `a`"));
        assert!(message(&[("a/a.pgm", DARK), ("b/b.txt", b"x")]).contains("the folder of a class"));
        assert!(message(&[("a/a.pgm", DARK), ("b/b.png", b"x")]).contains("b.png: the start"));
    }
}
