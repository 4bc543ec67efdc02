//! Protobuf messages, as far as ONNX needs them: numbers, texts, and messages inside messages.

/// A message under construction.
#[derive(Debug, Clone, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A whole number; zero is written too, since ONNX tells it from absence.
    pub(super) fn integer(mut self, field: u32, value: i64) -> Self {
        self.tag(field, 0);
        // Negative numbers take ten bytes, as their two's complement.
        self.varint(value as u64);
        self
    }

    pub(super) fn float(mut self, field: u32, value: f32) -> Self {
        self.tag(field, 5);
        self.0.extend(value.to_le_bytes());
        self
    }

    pub(super) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.tag(field, 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(super) fn message(self, field: u32, message: &Self) -> Self {
        self.bytes(field, &message.0)
    }

    pub(super) fn messages(self, field: u32, messages: impl IntoIterator<Item = Self>) -> Self {
        messages.into_iter().fold(self, |whole, message| whole.message(field, &message))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn tag(&mut self, field: u32, kind: u32) {
        self.varint(u64::from(field << 3 | kind));
    }

    /// Seven bits a byte, lowest first; the top bit says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_encodings() {
        // From the protobuf guide: field 1 with 150, field 2 with the text `testing`, field 3 with the first as a message.
        assert_eq!(Message::default().integer(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), *b"\x12\x07testing");
        let inner = Message::default().integer(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().integer(1, -1).into_bytes()[1..], [255, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(Message::default().float(2, 1.0).into_bytes(), [0x15, 0, 0, 0x80, 0x3f]);
        assert_eq!(Message::default().integer(20, 7).into_bytes(), [0xa0, 0x01, 0x07]);
    }
}
