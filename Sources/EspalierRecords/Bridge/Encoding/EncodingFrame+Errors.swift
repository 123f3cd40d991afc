extension EncodingFrame {
    /// Keeps an error to be thrown when the value is finished.
    func refuse(_ error: any Error) {
        let frame = root ?? self
        if frame.refusal == nil { frame.refusal = error }
    }

    /// A frame that refuses to be written to.
    func refused() -> EncodingFrame {
        let frame = EncodingFrame(nestedIn: self, key: BridgeKey(""))
        frame.isClosed = true
        return frame
    }

    func checkOpen() throws {
        if let refusal = (root ?? self).refusal { throw refusal }
        if isClosed || root?.isClosed == true {
            throw invalid("the value was encoded already; its encoder can't be kept")
        }
    }

    func invalid(_ what: String) -> EncodingError {
        .invalidValue((), EncodingError.Context(codingPath: codingPath, debugDescription: what))
    }
}
