package io.lendstream.launcher.declare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.lendstream.launcher.cluster.OutputOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The JSON Schemas and the reference of docs/declarations.md are made from the fields that files are read with. */
class DeclarationDocsTest {
    private static final boolean UPDATE = Boolean.getBoolean("docs.update");
    private static final Path DOCS = Path.of("../docs");
    private static final String MADE =
            "<!-- The part below is made from the fields of files by DeclarationDocsTest; ./dev docs writes it. -->\n";

    @Test
    void theSchemasAreThoseOfTheReader() throws IOException {
        for (DeclaredKind<?> kind : DeclaredKinds.ALL) {
            mustBe("schemas/" + EditorSchema.file(kind), text(EditorSchema.of(kind)));
        }
        mustBe("schemas/declaration.json", text(EditorSchema.ofAll()));
    }

    @Test
    void thePageHasEveryField() throws IOException {
        String page = Files.readString(DOCS.resolve("declarations.md"));

        assertThat(page).contains(MADE);
        mustBe("declarations.md", page.substring(0, page.indexOf(MADE) + MADE.length()) + FieldTable.markdown());
    }

    private static String text(JsonNode schema) {
        return OutputOptions.write(schema) + "\n";
    }

    /** Fails where a file differs from this text; {@code -Ddocs.update=true} writes it first. */
    private static void mustBe(String name, String text) throws IOException {
        Path file = DOCS.resolve(name);
        if (UPDATE) {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        }
        assertThat(Files.exists(file) ? Files.readString(file) : "(no such file)")
                .as("docs/%s is stale: ./dev docs rewrites it", name)
                .isEqualTo(text);
    }
}
