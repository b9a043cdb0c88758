package io.lendstream.service.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FileErrorsTest {
    @Test
    void aDirectoryThatCannotBeUsedHasACauseEvenIfTheSystemOnlyNamesIt() {
        assertThat(FileErrors.ofDirectory(new NoSuchFileException("/x"))).isEqualTo("the system does not allow it");
        assertThat(FileErrors.ofDirectory(new AccessDeniedException("state"))).isEqualTo("permission denied");
        assertThat(FileErrors.ofDirectory(new FileAlreadyExistsException("/a"))).isEqualTo("it is a file");
        assertThat(FileErrors.ofDirectory(new FileSystemException("/a/b", null, "Not a directory")))
                .isEqualTo("Not a directory");
        assertThat(FileErrors.ofDirectory(new IOException("it is not writable")))
                .isEqualTo("it is not writable");
    }
}
