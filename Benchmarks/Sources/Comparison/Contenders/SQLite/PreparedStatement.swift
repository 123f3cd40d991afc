import Foundation
import GRDB
import GRDBSQLite

/// A prepared statement, which the connection keeps unless it is used once. It is bound and read
/// through SQLite's own calls, which box no values.
struct PreparedStatement {
    private let statement: Statement
    private let pointer: OpaquePointer

    init(_ db: Database, _ sql: String, isKept: Bool = true) throws {
        statement = try isKept ? db.cachedStatement(sql: sql) : db.makeStatement(sql: sql)
        pointer = statement.sqliteStatement
        sqlite3_reset(pointer)
    }

    func bind(_ text: String, at index: Int32) {
        var text = text
        text.withUTF8 { utf8 in
            utf8.withMemoryRebound(to: CChar.self) { bytes in
                _ = sqlite3_bind_text(
                    pointer, index, bytes.baseAddress, Int32(bytes.count), Self.copied)
            }
        }
    }

    func bind(_ number: Int, at index: Int32) { sqlite3_bind_int64(pointer, index, Int64(number)) }
    func bind(_ number: Double, at index: Int32) { sqlite3_bind_double(pointer, index, number) }
    func bind(_ value: Bool, at index: Int32) { sqlite3_bind_int64(pointer, index, value ? 1 : 0) }

    /// Binds bytes that stay where they are until the statement has run.
    func bind(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
        sqlite3_bind_blob64(pointer, index, bytes.baseAddress, UInt64(bytes.count), nil)
    }

    /// SQLITE_TRANSIENT, a macro that Swift does not import.
    private static var copied: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Runs a statement that returns no rows.
    func run() throws {
        while try step() {}
        sqlite3_reset(pointer)
    }

    /// Runs the statement, and calls `body` for each row, whose columns are those of this
    /// statement.
    func forEachRow(_ body: (PreparedStatement) throws -> Void) throws {
        defer { sqlite3_reset(pointer) }
        while try step() { try body(self) }
    }

    /// Returns the first row, if there is one.
    func firstRow<Result>(_ body: (PreparedStatement) throws -> Result) throws -> Result? {
        defer { sqlite3_reset(pointer) }
        return try step() ? body(self) : nil
    }

    private func step() throws -> Bool {
        let code = sqlite3_step(pointer)
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        let message = String(cString: sqlite3_errmsg(sqlite3_db_handle(pointer)))
        sqlite3_reset(pointer)
        throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
    }

    func text(_ column: Int32) -> String { String(decoding: textBytes(column), as: UTF8.self) }
    func integer(_ column: Int32) -> Int { Int(sqlite3_column_int64(pointer, column)) }
    func double(_ column: Int32) -> Double { sqlite3_column_double(pointer, column) }
    func bool(_ column: Int32) -> Bool { sqlite3_column_int64(pointer, column) != 0 }

    /// Valid until the next row is read.
    func textBytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_text(pointer, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    /// Valid until the next row is read.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(pointer, column)
        return UnsafeRawBufferPointer(
            start: start, count: Int(sqlite3_column_bytes(pointer, column)))
    }
}

extension Data {
    /// Creates data over bytes that outlive it, without a copy.
    init(borrowing bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else {
            self.init()
            return
        }
        self.init(
            bytesNoCopy: UnsafeMutableRawPointer(mutating: start), count: bytes.count,
            deallocator: .none)
    }
}
