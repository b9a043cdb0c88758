package io.lendstream.launcher.declare;

import io.lendstream.launcher.cli.UserError;
import io.lendstream.service.settings.Nearest;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** All kinds of object that files declare. */
final class DeclaredKinds {
    static final DeclaredService SERVICE = new DeclaredService();
    static final DeclaredJob JOB = new DeclaredJob();
    static final DeclaredQueue QUEUE = new DeclaredQueue();

    static final DeclaredDomainSettings DOMAIN_SETTINGS = new DeclaredDomainSettings();

    static final List<DeclaredKind<?>> ALL = List.of(SERVICE, JOB, QUEUE, DOMAIN_SETTINGS);

    /** The kinds in files. */
    static final List<String> NAMES =
            ALL.stream().<String>map(DeclaredKind::name).toList();

    private DeclaredKinds() {}

    /** The kind with this name in files. */
    static Optional<DeclaredKind<?>> named(String name) {
        return ALL.stream().filter(kind -> kind.name().equals(name)).findFirst();
    }

    /** The kind that a command line names, in singular or plural. */
    static DeclaredKind<?> spelled(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        return ALL.stream()
                .filter(kind -> kind.spellings().contains(lower))
                .findFirst()
                .orElseThrow(() -> UserError.badUsage("KIND is '%s', but must be %s."
                        .formatted(
                                text,
                                Nearest.listed(ALL.stream()
                                        .<String>map(DeclaredKind::word)
                                        .toList()))));
    }
}
