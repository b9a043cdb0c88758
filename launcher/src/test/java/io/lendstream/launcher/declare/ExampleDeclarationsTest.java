package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.lendstream.core.event.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The examples pass the reader and the schemas of editors, and come back as they are. */
class ExampleDeclarationsTest {
    private static final Path EXAMPLES = Path.of("../examples/declarations");

    static List<Path> examples() throws IOException {
        try (Stream<Path> files = Files.list(EXAMPLES)) {
            return files.filter(file -> file.toString().endsWith(".yaml"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    void thereAreExamplesOfAllKinds() throws IOException {
        assertThat(examples()).hasSizeGreaterThan(3);
        assertThat(examples().stream()
                        .flatMap(file -> read(file).stream())
                        .map(object -> object.kind().name())
                        .distinct())
                .containsExactlyInAnyOrderElementsOf(DeclaredKinds.NAMES);
    }

    @ParameterizedTest
    @MethodSource("examples")
    void anExampleFitsTheSchemaOfItsKind(Path file) throws IOException {
        try (MappingIterator<JsonNode> documents =
                new YAMLMapper().readerFor(JsonNode.class).readValues(file.toFile())) {
            List<DeclaredObject<?>> objects = read(file);
            for (DeclaredObject<?> object : objects) {
                JsonNode document = documents.next();
                assertThat(JsonSchemaCheck.problems(EditorSchema.of(object.kind()), document))
                        .as(object.shown())
                        .isEmpty();
                ((ObjectNode) document.get("spec")).put("colour", "blue");
                assertThat(JsonSchemaCheck.problems(EditorSchema.of(object.kind()), document))
                        .as("an unknown field of " + object.shown())
                        .isNotEmpty();
            }
            assertThat(documents.hasNext()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("examples")
    void anExampleNamesTheSchemaForEditors(Path file) throws IOException {
        assertThat(Files.readAllLines(file))
                .first()
                .isEqualTo("# yaml-language-server: $schema=../../docs/schemas/declaration.json");
        assertThat(EXAMPLES.resolve("../../docs/schemas/declaration.json")).exists();
        assertThat(EditorSchema.ofAll().get("oneOf").findValuesAsText("$ref"))
                .hasSameSizeAs(DeclaredKinds.ALL)
                .allSatisfy(name -> assertThat(
                                EXAMPLES.resolve("../../docs/schemas").resolve(name))
                        .exists());
    }

    @ParameterizedTest
    @MethodSource("examples")
    void anExampleIsWrittenAsItIsRead(Path file) {
        for (DeclaredObject<?> object : read(file)) {
            comesBack(object);
        }
    }

    private static <T extends Event> void comesBack(DeclaredObject<T> object) {
        T record = object.record(Instant.EPOCH, Optional.empty());
        ObjectNode written = object.kind().write(record);
        ObjectReader again = new ObjectReader();

        again.read("again.yaml", String.join("\n", ObjectText.yaml(List.of(written))));

        assertThat(again.problems()).isEmpty();
        assertThat(again.objects())
                .singleElement()
                .satisfies(read ->
                        assertThat(read.record(Instant.EPOCH, Optional.empty())).isEqualTo(record));
        assertThat(JsonSchemaCheck.problems(EditorSchema.of(object.kind()), written))
                .isEmpty();
    }

    private static List<DeclaredObject<?>> read(Path file) {
        ObjectReader reader = new ObjectReader();
        try {
            reader.read(file.toString(), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertThat(reader.problems()).isEmpty();
        return reader.objects();
    }
}
