package io.lendstream.launcher.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Pages, sources and scripts use plain words: {@code plain-words.txt} lists those to avoid, with the way out. */
class PlainWordsTest {
    private static final Path RULES = Path.of("src/test/resources/plain-words.txt");
    private static final String SUBJECT = "the named subject: the operator, the scheduler, each service, no service";
    private static final String PASSIVE = "is updated, arrives, is published, is logged";
    private static final PlainWords PROJECT = search(Path.of(".."));

    @TempDir
    private Path root;

    private static PlainWords search(Path root) {
        try {
            return PlainWords.search(root, PlainWords.rules(RULES));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void pagesUsePlainWords() {
        assertThat(PROJECT.files()).isGreaterThan(700);
        assertThat(hits(PROJECT, PlainWords.Part.DOCS)).isEmpty();
    }

    @Test
    void mainSourcesAndScriptsUsePlainWords() {
        assertThat(hits(PROJECT, PlainWords.Part.MAIN)).isEmpty();
    }

    @Test
    void javadocLinesFitTheScreen() {
        assertThat(PROJECT.longLines()).map(PlainWords.Hit::toString).isEmpty();
    }

    @Test
    void plantedWordsAreFoundWithTheirLineAndTheWayOut() throws IOException {
        write("docs/page.md", "# Page\n\nA transfer is under\nway until the driver\nanswers.\n\n| a | of what |\n");
        write("core/src/main/java/Planted.java", """
                /**
                 * A report that nobody
                 * reads; it hangs
                 * on a lease.
                 */
                class Planted {
                    String text = "the service is " + "told at once";
                    String block = \"""
                            decided in earnest
                            \""";
                    char quote = '"'; // starts
                    // afresh
                }
                """);
        write("core/src/test/java/PlantedTest.java", "class PlantedTest {\n    void aNodeIsHeardOfAgain() {}\n}\n");
        write("schemas/src/main/avro/a.avsc", "{\"name\": \"a\",\n \"doc\": \"A word of demand.\"}\n");
        write("deploy/values.yaml", "replicas: 0 # at hand\nuser: nobody\n");
        write("dev", "say \"whoever asks\"\n");

        PlainWords words = search(root);

        assertThat(words.hits())
                .map(PlainWords.Hit::toString)
                .containsExactlyInAnyOrder(
                        "docs/page.md:3: under way -> write: in progress",
                        "docs/page.md:7: of what -> write: of the thing, by its name",
                        "core/src/main/java/Planted.java:2: nobody -> write: " + SUBJECT,
                        "core/src/main/java/Planted.java:3: hangs on -> write: depends on",
                        "core/src/main/java/Planted.java:7: is told -> write: " + PASSIVE,
                        "core/src/main/java/Planted.java:9: in earnest -> write: binding, real",
                        "core/src/main/java/Planted.java:12: afresh -> write: again, new",
                        "core/src/test/java/PlantedTest.java:2: Is Heard -> write: " + PASSIVE,
                        "core/src/test/java/PlantedTest.java:2: Heard Of -> write: seen, reported, known",
                        "schemas/src/main/avro/a.avsc:2: A word of -> write: a report of, an update of",
                        "deploy/values.yaml:1: at hand -> write: available, local",
                        "dev:1: whoever -> write: " + SUBJECT);
    }

    @Test
    void goodTextIsNotFlagged() throws IOException {
        write("docs/page.md", """
                # What to watch

                The lease changes hands, and the handset is a hardware part. Write `nobody` in [code](nobody-looks.md).
                """);
        write("core/src/main/java/Good.java", """
                /** Tells the driver about {@code nobody}; the afreshment is no word. */
                class Good {
                    String user = "nobody:nobody";
                    int anew = 1;
                }
                """);
        write("deploy/values.yaml", "user: nobody\nanew: afresh\n");
        write("benchmarks/results/2026-01-01-old.md", "Nobody looks at everything.\n");
        write("core/target/notes.md", "Nobody looks at everything.\n");

        PlainWords words = search(root);

        assertThat(words.hits()).isEmpty();
        assertThat(words.longLines()).isEmpty();
    }

    @Test
    void longJavadocLinesAreFoundAndOtherLongLinesAreNot() throws IOException {
        String long121 = "x".repeat(121);
        write(
                "core/src/main/java/Long.java",
                "/**\n * %s\n */\nclass Long {\n    // %s\n    /** %s */\n    int a;\n}\n"
                        .formatted(long121, long121, long121));

        PlainWords words = search(root);

        assertThat(words.longLines()).extracting(PlainWords.Hit::line).containsExactly(2, 6);
    }

    private void write(String path, String text) throws IOException {
        Path file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static List<String> hits(PlainWords words, PlainWords.Part part) {
        return words.hits().stream()
                .filter(hit -> hit.part() == part)
                .map(PlainWords.Hit::toString)
                .toList();
    }
}
