// Values inside of the value: what nested containers and super decoders read.
extension DecodingFrame {
    /// The frame of the value in the field `name`, which reading has moved past afterwards.
    func nested(field name: String) throws -> DecodingFrame {
        let key = BridgeKey(name)
        let nested = try fields(name, Any.self) { record -> DecodingFrame? in
            guard try record.seek(name) else { return nil }
            let start = record.place
            let frame = try DecodingFrame(nestedIn: self, key: key, value: record.values.fork())
            try record.values.skipValue()
            record.place = start.passed(to: record.place.position)
            return frame
        }
        return nested ?? DecodingFrame(nothingIn: self, key: key)
    }
}
