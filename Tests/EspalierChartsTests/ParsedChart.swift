import Foundation
import Testing

#if canImport(FoundationXML)
import FoundationXML
#endif

/// What an XML parser finds in a chart.
final class ParsedChart: NSObject, XMLParserDelegate {
    private(set) var texts: [String] = []
    private(set) var elements: [String] = []
    private(set) var attributes: [String: String] = [:]
    private(set) var title = ""
    private(set) var summary = ""
    private var text = ""
    private var isOfDocument = true

    init(_ svg: String) throws {
        super.init()
        let parser = XMLParser(data: Data(svg.utf8))
        parser.delegate = self
        let isParsed = parser.parse()
        try #require(isParsed, "\(parser.parserError.map { "\($0)" } ?? "not XML") in \(svg)")
    }

    /// Numbers of coordinates, all of which have to be numbers.
    static func hasOnlyNumbers(_ svg: String) -> Bool {
        !svg.contains("nan") && !svg.contains("inf")
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
        qualifiedName: String?,
        attributes found: [String: String] = [:]
    ) {
        if name == "svg" { attributes = found }
        if name == "text" || name == "style" { isOfDocument = false }
        elements.append(name)
        text = ""
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

    func parser(
        _ parser: XMLParser, didEndElement name: String, namespaceURI: String?,
        qualifiedName: String?
    ) {
        switch name {
        case "title" where isOfDocument: title = text
        case "desc": summary = text
        case "text": texts.append(text)
        default: break
        }
        text = ""
    }
}
