package io.lendstream.schemas.topics;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A file under {@code docs/} that is made from the code, and must be as the code makes it. */
record GeneratedPage(String name) {
    private static final boolean UPDATE = Boolean.getBoolean("docs.update");

    /** Fails where the file differs from this text; {@code -Ddocs.update=true} writes it first. */
    void mustBe(String text) {
        Path file = Path.of("..", "docs", name);
        try {
            if (UPDATE) {
                Files.createDirectories(file.getParent());
                Files.writeString(file, text);
            }
            assertThat(Files.exists(file) ? Files.readString(file) : "(no such file)")
                    .as("docs/%s is stale: ./dev docs (-Ddocs.update=true) writes it again", name)
                    .isEqualTo(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
