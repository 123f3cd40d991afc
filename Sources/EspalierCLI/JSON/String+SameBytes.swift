extension String {
    /// Whether both are the same bytes in UTF-8. `==` alone calls "é" and "e" + U+0301 equal.
    func hasSameBytes(as other: String) -> Bool {
        // Strings that are not equivalent differ in bytes; `==` finds that with one comparison of
        // memory.
        self == other && utf8.elementsEqual(other.utf8)
    }
}
