import EspalierRecords

/// Stands for a list of fields: each list has a type of its own, as a decoder's and an encoder's
/// lists have one each.
protocol FieldList {}

/// The list of no fields.
enum NoFields: FieldList {}

/// A list with one more field.
enum OneMore<Field: FieldList, Rest: FieldList>: FieldList {}

extension FieldList where Self == NoFields {
    /// The type that stands for `fields`.
    static func type(of fields: [SheetField]) -> any FieldList.Type {
        var list: any FieldList.Type = NoFields.self
        for field in fields { list = join(field.type, list) }
        return list
    }

    private static func join<Field: FieldList, Rest: FieldList>(
        _ field: Field.Type, _ rest: Rest.Type
    ) -> any FieldList.Type { OneMore<Field, Rest>.self }
}
