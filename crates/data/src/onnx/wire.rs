//! Protobuf messages, taken apart: the counterpart of `proto.rs`.

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Field<'a> {
    Number(u64),
    Float(f32),
    Bytes(&'a [u8]),
}

/// The fields of a message, or nothing where it is damaged.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    /// The number of the field and what it holds; an error ends the message.
    type Item = Result<(u64, Field<'a>), &'static str>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Result<(u64, Field<'a>), &'static str> {
        let tag = self.varint()?;
        let field = match tag & 7 {
            0 => Field::Number(self.varint()?),
            // Doubles: no field that is read here has one.
            1 => Field::Bytes(self.take(8)?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| "a length that is too large")?;
                Field::Bytes(self.take(length)?)
            }
            5 => {
                let (bytes, _) = self.take(4)?.as_chunks::<4>();
                Field::Float(f32::from_le_bytes(bytes[0]))
            }
            _ => return Err("a field of an unknown type"),
        };
        Ok((tag >> 3, field))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("the end of the data")?;
        self.0 = rest;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64, &'static str> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err("a number of more than 64 bits")
    }
}

impl<'a> Field<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8], &'static str> {
        if let Field::Bytes(bytes) = self { Ok(bytes) } else { Err("a number where a message should be") }
    }

    pub(super) fn text(self) -> Result<String, &'static str> {
        Ok(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    pub(super) fn number(self) -> Result<i64, &'static str> {
        if let Field::Number(number) = self { Ok(number as i64) } else { Err("a message where a number should be") }
    }

    /// Whole numbers, one or packed.
    pub(super) fn numbers(self, into: &mut Vec<i64>) -> Result<(), &'static str> {
        match self {
            Field::Number(number) => into.push(number as i64),
            Field::Bytes(bytes) => {
                let mut fields = Fields(bytes);
                while !fields.0.is_empty() {
                    into.push(fields.varint()? as i64);
                }
            }
            Field::Float(_) => return Err("a fraction where a whole number should be"),
        }
        Ok(())
    }

    /// Fractions, one or packed.
    pub(super) fn floats(self, into: &mut Vec<f32>) -> Result<(), &'static str> {
        match self {
            Field::Float(value) => into.push(value),
            Field::Bytes(bytes) => into.extend(bytes.as_chunks::<4>().0.iter().map(|chunk| f32::from_le_bytes(*chunk))),
            Field::Number(_) => return Err("a whole number where a fraction should be"),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_encodings() {
        let fields: Vec<_> = Fields(&[0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i']).collect::<Result<_, _>>().unwrap();
        assert_eq!(fields, [(1, Field::Number(150)), (2, Field::Bytes(b"hi"))]);
        assert!(Fields(&[0x08]).any(|field| field.is_err()));
        assert!(Fields(&[0x12, 0x05, 1]).any(|field| field.is_err()));
        assert!(Fields(&[0x0b]).any(|field| field.is_err()));
        assert!(Fields(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).any(|field| field.is_err()));
        let mut numbers = Vec::new();
        Field::Bytes(&[3, 0x96, 0x01]).numbers(&mut numbers).unwrap();
        assert_eq!(numbers, [3, 150]);
    }
}
