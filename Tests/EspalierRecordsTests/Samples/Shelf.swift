import EspalierModels
import EspalierRecords

/// Holds models that may be deleted with what they can't be without.
struct Shelf: NormalizedModel, Equatable {
    let id: String
    var stem: Stem?
    var frame: Frame?
    var frames: [Frame] = []
    var requiredFrame: Frame
    var modelIdentifier: String? { id }

    init(
        _ id: String, stem: Stem? = nil, frame: Frame? = nil, frames: [Frame] = [],
        requiredFrame: Frame
    ) {
        (self.id, self.stem, self.frame, self.frames, self.requiredFrame) = (
            id, stem, frame, frames, requiredFrame
        )
    }

    init(from decoder: inout RecordDecoder) throws {
        id = try decoder.decode(forKey: "id")
        stem = try decoder.decode(forKey: "stem")
        frame = try decoder.decode(forKey: "frame")
        frames = try decoder.decode(forKey: "frames")
        requiredFrame = try decoder.decode(forKey: "requiredFrame")
    }

    func encode(to encoder: inout RecordEncoder) throws {
        try encoder.encode(id, forKey: "id")
        try encoder.encode(stem, forKey: "stem")
        try encoder.encode(frame, forKey: "frame")
        try encoder.encode(frames, forKey: "frames")
        try encoder.encode(requiredFrame, forKey: "requiredFrame")
    }
}
