import EspalierRecords

/// What a record's dictionary is called: its number, or how the payload stands there without one.
enum DictionaryName {
    static func text(_ number: UInt64) -> String {
        switch number {
        case 0: "raw"
        case RecordLayout.noDictionary: "none"
        default: "\(number)"
        }
    }

    static func cell(_ number: UInt64) -> Cell { .text(text(number)) }
}
