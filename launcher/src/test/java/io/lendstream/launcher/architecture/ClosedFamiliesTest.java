package io.lendstream.launcher.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.core.decision.Action;
import io.lendstream.core.event.Event;
import io.lendstream.core.id.Tenant;
import io.lendstream.core.state.Owner;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A new case of a closed family is to break the build where it is not handled, which a test of the type does not. */
class ClosedFamiliesTest {
    private static final Path MODULES = Path.of("..");
    private static final int MOST = 20;

    private static final Pattern TYPE_TEST =
            Pattern.compile("\\binstanceof\\s+(?:final\\s+)?([\\w.]+)|\\b([\\w.]+)\\.class(?:::|\\.)isInstance\\b");
    private static final Pattern CASE_IMPORT = Pattern.compile(
            "^import (?:static )?io\\.lendstream\\.core\\.\\w+\\.(?:Owner|Tenant|Action)\\.(\\w+|\\*);",
            Pattern.MULTILINE);

    @Test
    void casesAreTakenApartByMatch() {
        List<String> found = new ArrayList<>();
        for (Path source : sources()) {
            typeTests(read(source)).forEach(each -> found.add(source + ": " + each));
        }

        assertThat(found)
                .as(
                        "type tests of Owner, Tenant, Action, Event and their cases; use match, or a question of the family")
                .hasSizeLessThanOrEqualTo(MOST);
    }

    @Test
    void typeTestsAreFoundHoweverTheyAreWritten() {
        assertThat(typeTests("if (owner instanceof Owner.Lent lent && event instanceof RequestRate) {"))
                .containsExactly("Owner.Lent", "RequestRate");
        assertThat(typeTests("x instanceof\n        Tenant.Job")).containsExactly("Tenant.Job");
        assertThat(typeTests("x instanceof io.lendstream.core.id.Tenant.Job")).containsExactly("Tenant.Job");
        assertThat(typeTests("filter(Tenant.Job.class::isInstance)")).containsExactly("Tenant.Job");
        assertThat(typeTests("Tick.class.isInstance(x)")).containsExactly("Tick");
        assertThat(typeTests("import io.lendstream.core.state.Owner.Lent;\nx instanceof Lent"))
                .containsExactly("Lent");
        assertThat(typeTests("x instanceof Input.Happened || x instanceof Job")).isEmpty();
    }

    /** The names of the families and cases whose type is tested in a source. */
    private static List<String> typeTests(String source) {
        Set<String> names = new TreeSet<>(caseNames());
        names.addAll(importedCases(source));
        return TYPE_TEST
                .matcher(source)
                .results()
                .map(test -> test.group(1) == null ? test.group(2) : test.group(1))
                .map(type -> type.replaceFirst("^(?:[a-z]\\w*\\.)+", ""))
                .filter(names::contains)
                .toList();
    }

    private static Set<String> importedCases(String source) {
        Set<String> imported = CASE_IMPORT
                .matcher(source)
                .results()
                .map(MatchResult::group)
                .map(line -> line.replaceFirst(";$", "").replaceFirst(".*\\.", ""))
                .collect(Collectors.toCollection(TreeSet::new));
        if (imported.contains("*")) {
            caseNames().forEach(name -> imported.add(name.replaceFirst(".*\\.", "")));
        }
        return imported;
    }

    /** As sources have them: {@code Owner.Lent}, {@code RequestRate}. */
    private static Set<String> caseNames() {
        return Stream.of(Owner.class, Tenant.class, Action.class, Event.class)
                .flatMap(family -> Stream.concat(Stream.of(family), Stream.of(family.getPermittedSubclasses())))
                .map(type -> type.getName().replaceFirst(".*\\.", "").replace('$', '.'))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Path> sources() {
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(MODULES)) {
            for (Path module : modules.sorted().toList()) {
                Path main = module.resolve("src/main/java");
                if (Files.isDirectory(main)) {
                    try (Stream<Path> files = Files.walk(main)) {
                        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(sources).hasSizeGreaterThan(100);
        return sources;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
