extension Change {
    /// Fields that come, go, and change their names.
    static let fields: [Change] = [
        Change(
            "optional field added", CodableText.Message(), CodableOptionalMood.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenOptionalMood.Message()),
        Change(
            "required field added", CodableText.Message(), CodableMood.Message(mood: "calm"),
            handWritten: HandWrittenText.Message(), HandWrittenMood.Message()),
        Change(
            "field added, `var mood = \"glad\"` in a `Codable` type", CodableText.Message(),
            CodableInitialMood.Message(mood: "calm")),
        Change(
            "field added, read as an optional `?? \"glad\"`", CodableText.Message(),
            CodableDefaultMood.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenDefaultMood.Message()),
        Change(
            "optional field removed", CodableOptionalMood.Message(), CodableText.Message(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenText.Message()),
        Change(
            "required field removed", CodableMood.Message(mood: "calm"), CodableText.Message(),
            handWritten: HandWrittenMood.Message(), HandWrittenText.Message()),
        Change(
            "required field renamed", CodableText.Message(), CodableBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenBody.Message()),
        Change(
            "field renamed and made optional", CodableText.Message(), CodableOptionalBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenOptionalBody.Message()),
        Change(
            "field renamed, the key kept", CodableText.Message(), CodableKeyedBody.Message(),
            handWritten: HandWrittenText.Message(), HandWrittenKeyedBody.Message()),
        Change(
            "type renamed, optional field removed", CodableOptionalMood.Message(),
            CodableRenamed.Note(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenRenamed.Note()),
        Change(
            "the same, the old `projectionIdentifier` kept", CodableOptionalMood.Message(),
            CodableRenamedProperly.Note(),
            handWritten: HandWrittenOptionalMood.Message(), HandWrittenRenamedProperly.Note()),
    ]
}
