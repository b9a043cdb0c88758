package io.lendstream.launcher.declare;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Nearest;
import java.util.Collection;
import java.util.List;

/**
 * The place of a value, for messages.
 *
 * @param file the name of the file
 * @param document the number of its document, from 1
 * @param object the object, such as {@code service/chat}; empty if it is not known yet
 * @param path the names of fields down to the value, such as {@code spec.shapes[0].cold}
 * @param wayOut what to do about a wrong value
 */
record ValuePlace(String file, int document, String object, String path, int line, String wayOut) {
    private static final int MOST_SUGGESTIONS = 3;

    /** The same document, of which the object is known. */
    ValuePlace of(String known) {
        return new ValuePlace(file, document, known, path, line, wayOut);
    }

    /** A field of this value. */
    ValuePlace field(String name, SourceValue value) {
        return new ValuePlace(file, document, object, below(name), value.line(), "Change it.");
    }

    /** An item of this list. */
    ValuePlace item(int index, SourceValue value) {
        return new ValuePlace(file, document, object, path + "[" + index + "]", value.line(), "Change it.");
    }

    /** The same place with another way out. */
    ValuePlace withWayOut(String other) {
        return new ValuePlace(file, document, object, path, line, other);
    }

    private String below(String name) {
        return path.isEmpty() ? name : path + "." + name;
    }

    /** The error for a value that is not allowed here. */
    UserError mustBe(SourceValue value, String allowed) {
        return bad("%s is %s, but must be %s. %s".formatted(path, value.shown(), allowed, wayOut));
    }

    /** The error for a field that is not there. */
    UserError missing(String field, String allowed) {
        return bad("%s is missing, but must be %s. Add it.".formatted(below(field), allowed));
    }

    /** The error for a field that does not exist. */
    UserError unknown(String field, SourceValue value, Collection<String> known) {
        return field(field, value)
                .bad("%s is unknown; %s".formatted(below(field), suggestion(field, List.copyOf(known))));
    }

    private static String suggestion(String field, List<String> known) {
        List<String> near = nearest(field, known);
        return near.isEmpty()
                ? "known fields here: %s.".formatted(String.join(", ", known))
                : "did you mean %s?".formatted(Nearest.listed(near));
    }

    /** The known names nearest to a mistyped one; upper and lower case count as the same. */
    static List<String> nearest(String name, Collection<String> known) {
        List<String> same = known.stream().filter(name::equalsIgnoreCase).toList();
        return same.isEmpty() ? Nearest.all(name, known, MOST_SUGGESTIONS) : same;
    }

    /** An error at this place. */
    UserError bad(String problem) {
        return UserError.badUsage(where() + ": " + problem);
    }

    private String where() {
        return "%s, line %d, document %d%s"
                .formatted(file, line, document, object.isEmpty() ? "" : " (" + object + ")");
    }
}
