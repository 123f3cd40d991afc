@_exported public import EspalierModels
@_exported public import EspalierRecords
