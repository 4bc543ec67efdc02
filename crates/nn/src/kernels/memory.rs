//! What a thread keeps from one step to the next: scratch memory of the kernels, and buffers that tensors have left.
//!
//! A training step asks for buffers of the same sizes again and again, some of them many megabytes. Taking them from the
//! system means that every page is cleared first, and clearing takes longer than some layers. Gradients hand back what they
//! have read for the last time.

use std::cell::RefCell;
use std::collections::HashMap;

use burn::backend::Flex;
use burn::backend::tensor::FloatTensor;
use burn::tensor::{Shape, TensorData};
use invar_kernels::Workspace;

/// A tensor of the processor backend.
pub(super) type FlexTensor = FloatTensor<Flex>;

/// Buffers below this many entries are cheap.
const SMALL: usize = 4096;
/// Buffers of one length that are kept, at most.
const KEPT: usize = 8;

thread_local! {
    static WORKSPACE: RefCell<Option<Workspace>> = const { RefCell::new(None) };
    static BUFFERS: RefCell<HashMap<usize, Vec<Vec<f32>>>> = RefCell::new(HashMap::new());
}

/// Calls a kernel with this thread's workspace. It is taken out while the kernel runs: a thread that waits for others may
/// be given another kernel meanwhile.
pub(crate) fn with_workspace<R>(call: impl FnOnce(&mut Workspace) -> invar_kernels::Result<R>) -> R {
    let kept = WORKSPACE.take();
    let fresh = || Workspace::new().expect("checked when the network was drawn").with_transforms();
    let mut workspace = kept.unwrap_or_else(fresh);
    let result = call(&mut workspace).expect("sizes are those of the tensors");
    WORKSPACE.set(Some(workspace));
    result
}

/// A buffer with whatever it held before.
pub(super) fn stale(len: usize) -> Vec<f32> {
    let kept = BUFFERS.with_borrow_mut(|buffers| buffers.get_mut(&len).and_then(Vec::pop));
    kept.unwrap_or_else(|| vec![0.0; len])
}

/// Keeps the memory of a tensor if nobody else has it.
pub(super) fn recycle(tensor: FlexTensor) {
    if !tensor.is_unique() || !tensor.is_contiguous() {
        return;
    }
    if let Ok(buffer) = tensor.into_data().try_into_vec::<f32>() {
        keep(buffer);
    }
}

/// Keeps a buffer for the next tensor of its length.
pub(crate) fn keep(buffer: Vec<f32>) {
    if buffer.len() < SMALL {
        return;
    }
    BUFFERS.with_borrow_mut(|buffers| {
        let same = buffers.entry(buffer.len()).or_default();
        if same.len() < KEPT {
            same.push(buffer);
        }
    });
}

/// A tensor of the given shape.
pub(super) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::from_data(TensorData::new(values, Shape::from(shape)))
}

/// The sides of a tensor.
pub(super) fn sides<const D: usize>(tensor: &FlexTensor) -> [usize; D] {
    let shape = tensor.layout().shape();
    std::array::from_fn(|axis| shape[axis])
}

/// The entries of a tensor that [`FlexTensor::to_contiguous`] gave.
pub(super) fn entries(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("contiguous, and networks compute in f32")
}
