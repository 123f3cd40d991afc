import EspalierRecords

/// All of whose fields may be missing: whatever record is taken for one of it can be read.
struct Leaflet: Codable, Hashable, IdentifiedModel {
    var id: String?
    var text: String?
    var modelIdentifier: String? { id }
}
