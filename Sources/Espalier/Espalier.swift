@_exported public import EspalierConsistency
@_exported public import EspalierEncryption
@_exported public import EspalierInspection
@_exported public import EspalierModels
@_exported public import EspalierNormalized
@_exported public import EspalierProviders
@_exported public import EspalierRecords
@_exported public import EspalierStore
