#if Macros
import Testing

@Suite("The expansion of existential properties")
struct ExistentialTests {
    private let source = """
        enum Feed {
            @Normalized struct Entry {
                let all: [String: [any Local]?]
                let one: (any Local)?
            }
        }
        """

    private let expansion = """
        enum Feed {
            struct Entry {
                let all: [String: [any Local]?]
                let one: (any Local)?

                nonisolated var modelIdentifier: Swift.String? {
                    nil
                }

                nonisolated var projectionIdentifier: Swift.String {
                    "Entry"
                }

                nonisolated func map(_ transform: (any EspalierModels.Model) -> (any \
        EspalierModels.Model)?) -> Entry? {
                    guard let mapped0 = EspalierModels.ModelMembers.map(self.all.mapValues { \
        $0.map { $0.map { EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, transform),
                        let mapped1 = EspalierModels.ModelMembers.map(self.one.map { \
        EspalierModels.ErasedModel<any Local>($0)
                        }, transform)
                    else {
                        return nil
                    }
                    var builder = Builder(self)
                    builder.all = mapped0.mapValues {
                        $0.map {
                            $0.map {
                                $0.model
                            }
                        }
                    }
                    builder.one = mapped1.map {
                        $0.model
                    }
                    return Entry(builder)
                }

                nonisolated func forEach(_ visit: (any EspalierModels.Model) -> Swift.Void) {
                    EspalierModels.ModelMembers.forEach(self.all.mapValues {
                            $0.map {
                                $0.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, visit)
                    EspalierModels.ModelMembers.forEach(self.one.map {
                            EspalierModels.ErasedModel<any Local>($0)
                        }, visit)
                }

                @_implements(Swift.Equatable, ==(_:_:))
                nonisolated static func isSame(_ a: Entry, _ b: Entry) -> Swift.Bool {
                    guard EspalierModels.ModelMembers.areEqual(a.all.mapValues { $0.map { $0.map \
        { EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, b.all.mapValues { $0.map { $0.map { EspalierModels.ErasedModel<any \
        Local>($0)
                                }
                            }
                        }) else {
                        return false
                    }
                    guard EspalierModels.ModelMembers.areEqual(a.one.map { \
        EspalierModels.ErasedModel<any Local>($0)
                        }, b.one.map { EspalierModels.ErasedModel<any Local>($0)
                        }) else {
                        return false
                    }
                    return true
                }

                nonisolated func hash(into hasher: inout Swift.Hasher) {
                    EspalierModels.ModelMembers.hash(self.all.mapValues {
                            $0.map {
                                $0.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, into: &hasher)
                    EspalierModels.ModelMembers.hash(self.one.map {
                            EspalierModels.ErasedModel<any Local>($0)
                        }, into: &hasher)
                }

                nonisolated func hasSameEncoding(as other: Entry) -> Swift.Bool {
                    guard EspalierModels.ModelMembers.haveSameEncoding(self.all.mapValues { \
        $0.map { $0.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, other.all.mapValues { $0.map { $0.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }) else {
                        return false
                    }
                    guard EspalierModels.ModelMembers.haveSameEncoding(self.one.map {
                            EspalierModels.ErasedModel<any Local>($0)
                        }, other.one.map {
                            EspalierModels.ErasedModel<any Local>($0)
                        }) else {
                        return false
                    }
                    return true
                }

                nonisolated func merge(_ model: any EspalierModels.Model) -> any \
        EspalierModels.Model {
                    if model is Entry {
                        return model
                    }
                    guard let other = model as? any EspalierModels.ProjectedModel else {
                        return self
                    }
                    var builder = Builder(self)
                    EspalierModels.ModelMembers.take(&builder.all, named: "all", from: other)
                    EspalierModels.ModelMembers.take(&builder.one, named: "one", from: other)
                    return Entry(builder)
                }

                nonisolated func storedValue(_ name: Swift.String) -> Any? {
                    switch name {
                    case "all":
                        return self.all as Any
                    case "one":
                        return self.one as Any
                    default:
                        return nil
                    }
                }

                nonisolated func encode(to encoder: inout EspalierRecords.RecordEncoder) throws {
                    encoder.expect(Self.self, fields: ["all", "one"])
                    try encoder.encode(self.all.mapValues {
                            $0.map {
                                $0.map {
                                    EspalierModels.ErasedModel<any Local>($0)
                                }
                            }
                        }, forKey: "all")
                    try encoder.encode(self.one.map {
                            EspalierModels.ErasedModel<any Local>($0)
                        }, forKey: "one")
                }

                nonisolated struct Builder: Swift.Sendable {
                    var all: [String: [any Local]?]
                    var one: (any Local)?

                    init(_ model: Entry) {
                        self.all = model.all
                        self.one = model.one
                    }

                    func build() -> Entry {
                        return Entry(self)
                    }

                    fileprivate static func read_all(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> [String: [any Local]?] {
                        return (try decoder.decode([String: [EspalierModels.ErasedModel<any \
        Local>]?].self, forKey: "all")).mapValues {
                            $0.map {
                                $0.map {
                                    $0.model
                                }
                            }
                        }
                    }

                    fileprivate static func read_one(from decoder: inout \
        EspalierRecords.RecordDecoder) throws -> (any Local)? {
                        return (try decoder.decode(EspalierModels.ErasedModel<any Local>?.self, \
        forKey: "one")).map {
                            $0.model
                        }
                    }
                }

                nonisolated func copy(_ change: (inout Builder) throws -> Swift.Void) rethrows -> \
        Entry {
                    var builder = Builder(self)
                    try change(&builder)
                    return Entry(builder)
                }
            }
        }

        nonisolated extension Feed.Entry: EspalierModels.NormalizedModel, EspalierModels.Model, \
        EspalierModels.ProjectedModel, Swift.Hashable {
            nonisolated init(from decoder: inout EspalierRecords.RecordDecoder) throws {
                decoder.expect(Self.self, fields: ["all", "one"])
                let value0 = try Builder.read_all(from: &decoder)
                let value1 = try Builder.read_one(from: &decoder)
                self.all = value0
                self.one = value1
            }

            nonisolated init(_ builder: Builder) {
                self.all = builder.all
                self.one = builder.one
            }
        }
        """

    @Test("Existentials at any depth are wrapped in ErasedModel and decoded by the builder")
    func existentials() { expectExpansion(of: source, is: expansion) }
}
#endif
