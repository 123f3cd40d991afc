extension EncodingFrame: Encoder {
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        refusing { try begin(.fields) }
        return KeyedEncodingContainer(KeyedFieldEncoding<Key>(frame: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if isModel {
            return ElementEncoding(
                frame: nestedOrRefusing(field: BridgeKey.wholeValue, form: .elements))
        }
        refusing { try begin(.elements) }
        return ElementEncoding(frame: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

// `Encoder` can't throw where it hands containers out: what is wrong is kept, and thrown when the
// value is finished.
extension EncodingFrame {
    func nestedOrRefusing(field name: String, form: Form) -> EncodingFrame {
        refusing { try nested(field: name, form: form) } ?? refused()
    }

    func nestedElementOrRefusing(form: Form) -> EncodingFrame {
        refusing { try nestedElement(form: form) } ?? refused()
    }

    @discardableResult
    private func refusing<R>(_ body: () throws -> R) -> R? {
        do {
            return try body()
        } catch {
            refuse(error)
            return nil
        }
    }
}
