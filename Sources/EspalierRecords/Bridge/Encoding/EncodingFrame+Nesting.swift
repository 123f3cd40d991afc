// Nested containers and super encoders, and the names that say whether one was there before.
extension EncodingFrame {
    /// The frame of a nested container or a super encoder under `name`; a container asked for again
    /// is continued.
    func nested(field name: String, form: Form) throws -> EncodingFrame {
        try checkOpen()
        if let slot = try writing({ slotWritten(name) }) {
            if let piece = pieces[slot], piece.form == form, form != .undecided { return piece }
            return try nested(BridgeKey(name), slot: slot, form: form)
        }
        let slot = count
        try field(name) { $0.encodeNull() }
        return try nested(BridgeKey(name), slot: slot, form: form)
    }

    func nestedElement(form: Form) throws -> EncodingFrame {
        let slot = count
        try element { $0.encodeNull() }
        return try nested(BridgeKey(index: slot), slot: slot, form: form)
    }

    private func nested(_ key: BridgeKey, slot: Int, form: Form) throws -> EncodingFrame {
        try values.flattener.allow(levels: level + 1)
        let piece = EncodingFrame(nestedIn: self, key: key)
        put(piece, in: slot)
        if form != .undecided { try piece.begin(form) }
        return piece
    }

    func put(_ piece: EncodingFrame, in slot: Int) {
        if let former = pieces.updateValue(piece, forKey: slot) { replaced.append(former) }
    }

    /// The slot of a field written before under the same name.
    func slotWritten(_ name: String) -> Int? {
        guard let record else { return nil }
        guard record.isInline else { return record.slot(ofWritten: name) }
        // Most names are new, which one bit each proves; else the names in the stream are looked
        // through.
        let utf8 = name.utf8
        let hash = utf8.count &* 31 &+ Int(utf8.first ?? 0) &* 7 &+ Int(utf8.last ?? 0)
        let bit: UInt64 = 1 << UInt64(hash & 63)
        defer { seenNames |= bit }
        guard seenNames & bit != 0 else { return nil }
        return try? values.writer.reading { reader in
            reader.position = bodyStart
            for slot in 0..<count {
                guard let length = try reader.takeStringLength() else { return nil }
                if try reader.matches(name, count: length) { return slot }
                try reader.skipValue()
            }
            return nil
        }
    }

    /// Where the first field or element stands.
    var bodyStart: Int { isModel ? start : start + 1 }
}
