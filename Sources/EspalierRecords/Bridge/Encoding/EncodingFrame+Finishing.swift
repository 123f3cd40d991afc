// Putting the pieces and the counts in their places.
extension EncodingFrame {
    /// The model's fields, complete.
    func finishFields() throws -> RecordEncoder {
        try finish()
        guard let record else { throw invalid("a model encodes no fields") }
        return record
    }

    /// Puts the pieces and the count in their places.
    func finish() throws {
        isClosed = true
        if let refusal = root?.refusal ?? refusal { throw refusal }
        switch form {
        case .undecided: values.writer.append(Wire.fixmap)
        case .whole: break
        case .fields, .elements:
            if !pieces.isEmpty { try splice() }
            if !isModel, count > 0 { setCount() }
        }
    }

    private func splice() throws {
        let bytes = values.writer.bytes
        values.writer.truncate(to: bodyStart)
        try ByteReader.reading(bytes) { reader in
            reader.position = bodyStart
            for slot in 0..<count {
                if form == .fields, record?.isInline == true { try copyValue(&reader) }
                if let piece = pieces[slot] {
                    try reader.skipValue()
                    try piece.finishBuffer()
                    values.writer.append(piece.buffer)
                } else {
                    try copyValue(&reader)
                }
            }
        }
    }

    private func copyValue(_ reader: inout ByteReader) throws {
        let from = reader.position
        try reader.skipValue()
        reader.copy(from..<reader.position, into: &values.writer)
    }

    /// Finishes a nested frame into the encoder's writer.
    private func finishBuffer() throws {
        try values.flattener.allow(levels: 0)
        swap(&values.writer, &buffer)
        defer { swap(&values.writer, &buffer) }
        try finish()
    }

    private func setCount() {
        if count <= 15 {
            values.writer.overwrite(
                at: start, with: (form == .fields ? Wire.fixmap : Wire.fixarray) | UInt8(count))
        } else {
            var head = ByteWriter()
            if form == .fields { head.append(mapOf: count) } else { head.append(arrayOf: count) }
            values.writer.replace(start..<start + 1, with: head)
        }
    }

    /// Whatever users kept of the frame refuses to write from now on.
    func close() {
        isClosed = true
        guard !pieces.isEmpty else { return }
        // Pieces and parents hold each other. Let go from the innermost, so that no release starts
        // a chain of them.
        var frames = [self]
        var next = 0
        while next < frames.count {
            frames += frames[next].pieces.values
            frames += frames[next].replaced
            next += 1
        }
        while let frame = frames.popLast() {
            frame.pieces = [:]
            frame.replaced = []
        }
    }
}
