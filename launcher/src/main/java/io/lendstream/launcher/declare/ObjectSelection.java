package io.lendstream.launcher.declare;

import io.lendstream.core.event.Event;
import io.lendstream.launcher.cli.UserError;
import io.lendstream.launcher.declare.DeclaredTopics.Written;
import io.lendstream.service.settings.Nearest;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The objects that a command line names: {@code KIND NAME} or {@code KIND/NAME}.
 *
 * @param kinds the kinds; all of them if none is named
 */
record ObjectSelection(List<DeclaredKind<?>> kinds, Optional<String> name) {
    /** Reads the arguments of a command; either may be empty. */
    static ObjectSelection of(String kind, String name) {
        if (kind.isEmpty()) {
            return new ObjectSelection(DeclaredKinds.ALL, Optional.empty());
        }
        int slash = kind.indexOf('/');
        if (slash >= 0 && !name.isEmpty()) {
            throw UserError.badUsage(
                    "KIND is '%s' and NAME is '%s', but one name is enough; leave one out.".formatted(kind, name));
        }
        String named = slash >= 0 ? kind.substring(slash + 1) : name;
        DeclaredKind<?> only = DeclaredKinds.spelled(slash >= 0 ? kind.substring(0, slash) : kind);
        return new ObjectSelection(
                List.of(only),
                slash < 0 && name.isEmpty() ? Optional.empty() : Optional.of(UserError.checkedName("NAME", named)));
    }

    /** The selected objects of a kind, also those that are being deleted. */
    <T extends Event> List<Written<T>> of(DeclaredKind<T> kind, DeclaredTopics topics) {
        SortedMap<String, Written<T>> all = topics.shown(kind);
        if (name.isEmpty()) {
            return List.copyOf(all.values());
        }
        Written<T> found = all.get(name.get());
        if (found == null) {
            List<String> near = ValuePlace.nearest(name.get(), all.keySet());
            throw UserError.failed("there is no %s; %s"
                    .formatted(
                            kind.shown(name.get()),
                            near.isEmpty()
                                    ? "'lendstream get %s' lists what is declared.".formatted(kind.word())
                                    : "did you mean %s?".formatted(Nearest.listed(near))));
        }
        return List.of(found);
    }
}
