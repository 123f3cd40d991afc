#if Macros
/// A server without a network. It does each operation once, however often it gets it.
actor Server {
    struct Offline: Error {}

    private let isOnline: Bool
    private var done: [String: Message] = [:]

    init(isOnline: Bool) { self.isOnline = isOnline }

    func send(_ operation: SendMessage, idempotencyKey: String) throws -> Message {
        guard isOnline else { throw Offline() }
        if let message = done[idempotencyKey] { return message }
        let message = Message(id: operation.id, text: operation.text, sender: ben)
        done[idempotencyKey] = message
        return message
    }
}
#endif
