/// The models of one document.
struct ModelDocument: Sendable {
    let name: String
    let models: [JSONTree]

    init(name: String, models: [JSONTree]) {
        self.name = name
        self.models = models
    }

    /// Reads the models that stand at `path` in `file`.
    init(_ file: InputFile, at path: RootPath, type: String, rule: IdentityRule)
        throws(CommandFailure)
    {
        let value = try file.parse()
        do {
            self.init(
                name: file.name,
                models: try path.models(in: value).map { rule.tree(from: $0, type: type) })
        } catch {
            throw CommandFailure("\(file.name): \(error.message)")
        }
    }

    /// Throws unless every model can be stored by itself.
    func requireIdentities(under idKey: String) throws(CommandFailure) {
        let missing = models.indices.filter { models[$0].modelIdentifier == nil }
        guard let first = missing.first else { return }
        throw CommandFailure(
            """
            \(name): \(missing.count) of \(models.count) models have no identity under \(idKey), the first at index \
            \(first). Nothing was imported. Give another --id-key or --path, or store them inline with --collection.
            """)
    }
}
