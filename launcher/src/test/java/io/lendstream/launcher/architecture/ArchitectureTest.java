package io.lendstream.launcher.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Our code keeps each rule, and code that breaks it is found. */
class ArchitectureTest {

    private static final Path MODULES = Path.of("..");
    /** Modules that are built after this test, or only when asked for. */
    private static final Set<String> BUILT_LATER = Set.of("benchmarks", "mutation");

    private static final String BROKEN = ArchitectureTest.class.getPackageName() + ".broken";

    private static final JavaClasses OURS = new ClassFileImporter()
            .withImportOption(location -> !location.contains("/jmh_generated/"))
            .importPaths(compiledModules());
    private static final JavaClasses FIXTURES = new ClassFileImporter().importPackages(BROKEN);

    /** Circles of our classes. */
    static List<SortedSet<String>> circles() {
        return ClassCircles.of(OURS, "io.lendstream");
    }

    /** A rule, and where and how code breaks it. */
    private enum Rule {
        MODULES_KNOW_ONLY_THOSE_BELOW(
                Architecture::modulesKnowOnlyThoseBelow,
                "core may not know simulator: Field <%s.core.KnowsTheSimulator",
                "scheduler may not know forecaster: Field <%s.scheduler.KnowsAnotherService",
                "embedded may not know core: Field <%s.embedded.KnowsTheCore",
                "newcomer may not know core: Field <%s.newcomer.utils.IsNotInTheGraph"),
        FRAMEWORKS_STAY_AT_HOME(
                Architecture::frameworksStayAtHome,
                "forecaster may not know org.apache.kafka.streams, only scheduler may: Field <%s.forecaster.UsesStreams"),
        CORE_IS_PURE(Architecture::coreIsPure, "Field <%s.core.Logs"),
        CORE_DOES_NO_INPUT_OR_OUTPUT(
                Architecture::coreDoesNoInputOrOutput,
                "Method <%s.core.ReadsAFile.read()>",
                "Method <%s.core.StartsAThread.start()>"),
        CORE_HAS_NO_CLOCK_AND_NO_DICE(
                Architecture::coreHasNoClockAndNoDice,
                "Method <%s.core.ReadsTheClock.instant()>",
                "Method <%s.core.ReadsTheClock.millis()>",
                "Method <%s.core.ThrowsDice.unseeded()>",
                "Method <%s.core.ThrowsDice.anywhere()>"),
        PACKAGES_HAVE_NO_CYCLES(
                Architecture::packagesHaveNoCycles,
                "Field <%1$s.core.first.KnowsTheSecond.second> has type <%1$s.core.second.KnowsTheFirst>"),
        PACKAGES_ARE_NAMED_AFTER_IDEAS(
                Architecture::packagesAreNamedAfterIdeas, "Class <%s.newcomer.utils.IsNotInTheGraph>"),
        PACKAGES_ARE_NULL_MARKED(
                Architecture::packagesAreNullMarked, "%s.newcomer.utils.IsNotInTheGraph lies in a package without");

        @SuppressWarnings("ImmutableEnumChecker") // a reference to a method without state
        private final Function<Architecture, ArchRule> rule;

        @SuppressWarnings("ImmutableEnumChecker") // an unmodifiable list of strings
        private final List<String> found;

        Rule(Function<Architecture, ArchRule> rule, String... found) {
            this.rule = rule;
            this.found = List.of(found);
        }
    }

    @ParameterizedTest
    @EnumSource
    void isKept(Rule each) {
        each.rule.apply(new Architecture("io.lendstream")).check(OURS);
    }

    @ParameterizedTest
    @EnumSource
    void findsCodeThatBreaksIt(Rule each) {
        List<String> details = each.rule
                .apply(new Architecture(BROKEN))
                .evaluate(FIXTURES)
                .getFailureReport()
                .getDetails();

        assertThat(each.found)
                .allSatisfy(violation -> assertThat(details)
                        .anySatisfy(detail -> assertThat(detail).contains(violation.formatted(BROKEN))));
    }

    @ParameterizedTest
    @EnumSource
    void leavesCodeAloneThatKeepsIt(Rule each) {
        List<String> details = each.rule
                .apply(new Architecture(BROKEN))
                .evaluate(FIXTURES)
                .getFailureReport()
                .getDetails();

        assertThat(details).noneSatisfy(detail -> assertThat(detail).contains("KeepsEveryRule"));
    }

    @Test
    void looksAtEveryModuleThatHasCode() throws IOException {
        try (Stream<Path> modules = Files.list(MODULES)) {
            List<String> packages = modules.filter(module -> !BUILT_LATER.contains(fileName(module)))
                    .map(module -> module.resolve("src/main/java/io/lendstream"))
                    .filter(Files::isDirectory)
                    .flatMap(ArchitectureTest::packagesIn)
                    .toList();

            assertThat(packages).contains("io.lendstream.core", "io.lendstream.launcher");
            assertThat(packages).allMatch(OURS::containPackage);
        }
    }

    private static String fileName(Path path) {
        return String.valueOf(path.getFileName());
    }

    private static Stream<String> packagesIn(Path base) {
        return Stream.of(base.toFile().list()).map(name -> "io.lendstream." + name);
    }

    /** By path: no class path holds all modules, and none must. */
    private static List<Path> compiledModules() {
        try (Stream<Path> modules = Files.list(MODULES)) {
            return modules.map(module -> module.resolve("target/classes"))
                    .filter(Files::isDirectory)
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
