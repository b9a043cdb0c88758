package io.lendstream.launcher.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.lendstream.launcher.architecture.SourceShape.Method;
import io.lendstream.launcher.architecture.SourceShape.RecordType;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files, types and methods are of a size that a reader takes in, and names say which class is meant. */
class SourceShapeTest {
    private static final Path ROOT = Path.of("..");
    private static final int LONGEST_FILE = 400;
    private static final int MOST_COMPONENTS = 12;
    private static final int MOST_PARAMETERS = 7;
    private static final int LONGEST_METHOD = 60;
    private static final int LONG_METHOD = 40;
    private static final int MOST_LONG_METHODS = 10;
    private static final int MOST_TESTS_FOR_A_CASE = 20;
    private static final int LARGEST_CIRCLE = 5;

    private static final SourceShape MAIN = main();

    private static SourceShape main() {
        try {
            return SourceShape.of(SourceShape.sources(ROOT, "main"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void noFileIsTooLong() {
        assertThat(MAIN.files())
                .hasSizeGreaterThan(500)
                .filteredOn(file -> file.lines() > LONGEST_FILE)
                .isEmpty();
    }

    @Test
    void noRecordHasTooManyComponents() {
        assertThat(MAIN.records())
                .hasSizeGreaterThan(300)
                .filteredOn(type -> type.components() > MOST_COMPONENTS)
                .isEmpty();
    }

    @Test
    void noMethodHasTooManyParametersOrLines() {
        assertThat(MAIN.methods())
                .hasSizeGreaterThan(3000)
                .filteredOn(method -> method.parameters() > MOST_PARAMETERS || method.lines() > LONGEST_METHOD)
                .isEmpty();
        assertThat(MAIN.methods())
                .filteredOn(method -> method.lines() > LONG_METHOD)
                .hasSizeLessThanOrEqualTo(MOST_LONG_METHODS);
    }

    @Test
    void casesOfClosedFamiliesAreSeldomAskedForOneByOne() {
        assertThat(MAIN.instanceOfs()).hasSizeLessThanOrEqualTo(MOST_TESTS_FOR_A_CASE);
    }

    @Test
    void oneNameIsOneClass() throws IOException {
        assertThat(SourceShape.repeatedNames(SourceShape.sources(ROOT, "main"))).isEmpty();
    }

    @Test
    void noCircleOfClassesIsLarge() {
        assertThat(ArchitectureTest.circles())
                .filteredOn(circle -> !isFamily(circle))
                .allSatisfy(circle -> assertThat(circle).hasSizeLessThanOrEqualTo(LARGEST_CIRCLE));
    }

    /** Whether a circle is a sealed type with its cases, and not many more. */
    private static boolean isFamily(SortedSet<String> circle) {
        return circle.stream().anyMatch(name -> {
            try {
                Class<?> type = Class.forName(name, false, SourceShapeTest.class.getClassLoader());
                Class<?>[] cases = type.getPermittedSubclasses();
                return cases != null && circle.size() - cases.length <= LARGEST_CIRCLE;
            } catch (ClassNotFoundException | LinkageError e) {
                return false;
            }
        });
    }

    @Test
    void sizesAreThoseOfTheSource(@TempDir Path directory) throws IOException {
        Path source = directory.resolve("Sample.java");
        Files.writeString(source, """
                package sample;

                class Sample {
                    record Pair(int first, int second) {
                        static final int NONE = 0;

                        Pair {
                            first = second;
                        }
                    }

                    boolean isService(Object tenant, int unused) {
                        return tenant instanceof Tenant.Service
                                || tenant instanceof String;
                    }
                }
                """);

        SourceShape shape = SourceShape.of(List.of(source));

        assertThat(shape.files()).extracting(SourceShape.File::lines).containsExactly(16);
        assertThat(shape.records()).containsExactly(new RecordType("sample.Sample.Pair", 2));
        assertThat(shape.methods())
                .contains(new Method("sample.Sample.isService", 2, 4))
                .hasSize(1);
        assertThat(shape.instanceOfs()).containsExactly("sample.Sample:13 Tenant.Service");
    }

    @Test
    void writesWhatItMeasured() throws IOException {
        Path file = Path.of("target/measurements/structure.json");
        Files.createDirectories(file.getParent());
        SourceShape test = SourceShape.of(SourceShape.sources(ROOT, "test"));
        Files.writeString(file, """
                {"main":%s,"test":%s,"recordsAbove8":%d,"instanceofOfClosedFamilies":%d,"repeatedNames":%d,"circles":%d,"largestCircle":%d}
                """.formatted(
                figures(MAIN),
                figures(test),
                MAIN.records().stream().filter(type -> type.components() > 8).count(),
                MAIN.instanceOfs().size(),
                SourceShape.repeatedNames(SourceShape.sources(ROOT, "main")).size(),
                ArchitectureTest.circles().size(),
                ArchitectureTest.circles().stream()
                        .mapToInt(circle -> circle.size())
                        .max()
                        .orElse(0)));

        assertThat(file).content().contains("\"largestCircle\"");
    }

    private static String figures(SourceShape shape) {
        List<Integer> files =
                shape.files().stream().map(SourceShape.File::lines).sorted().toList();
        List<Integer> methods =
                shape.methods().stream().map(Method::lines).sorted().toList();
        return """
                {"files":%d,"lines":%d,"linesOfFile":%s,"methods":%d,"linesOfMethod":%s,"methodsAbove30":%d,"methodsAbove40":%d,"records":%d,"parametersAbove6":%d}""".formatted(
                        files.size(),
                        files.stream().mapToInt(Integer::intValue).sum(),
                        spread(files),
                        methods.size(),
                        spread(methods),
                        methods.stream().filter(lines -> lines > 30).count(),
                        methods.stream().filter(lines -> lines > LONG_METHOD).count(),
                        shape.records().size(),
                        shape.methods().stream()
                                .filter(method -> method.parameters() > 6)
                                .count());
    }

    /** Median, 90th percentile and largest. */
    private static String spread(List<Integer> sorted) {
        return List.of(sorted.get(sorted.size() / 2), sorted.get(sorted.size() * 9 / 10), sorted.get(sorted.size() - 1))
                .stream()
                .map(String::valueOf)
                .collect(Collectors.joining(",", "[", "]"));
    }
}
