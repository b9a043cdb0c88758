package io.lendstream.simulator.results;

/** Cells of CSV files whose text comes from names. */
final class Csv {
    /** What a spreadsheet takes for the start of a formula: also the wide forms, as OWASP lists them. */
    private static final String FORMULA_STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20";
    /** Stands for half of a character, which UTF-8 cannot express. */
    private static final int REPLACEMENT = 0xfffd;

    private Csv() {}

    /**
     * A name as a cell. An ordinary name stays as it is. One that a spreadsheet would run as a formula gets a leading
     * apostrophe, as OWASP recommends; one with a comma, a quotation mark or a line feed is quoted as in RFC 4180. Half
     * of a surrogate pair becomes U+FFFD: a file in UTF-8 cannot have it.
     */
    static String name(String name) {
        String whole = whole(name);
        String text = !whole.isEmpty() && FORMULA_STARTS.indexOf(whole.charAt(0)) >= 0 ? "'" + whole : whole;
        return text.chars().anyMatch(each -> each == ',' || each == '"' || each == '\n' || each == '\r')
                ? '"' + text.replace("\"", "\"\"") + '"'
                : text;
    }

    private static String whole(String text) {
        if (text.chars().noneMatch(each -> Character.isSurrogate((char) each))) {
            return text;
        }
        return text.codePoints()
                .map(point -> Character.getType(point) == Character.SURROGATE ? REPLACEMENT : point)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** A number as a cell, whole ones without a point; empty where it is not finite. */
    static String number(double value) {
        if (!Double.isFinite(value)) {
            return "";
        }
        return value == Math.rint(value) && Math.abs(value) < 1e15
                ? Long.toString((long) value)
                : Double.toString(value);
    }
}
