package io.lendstream.actuator.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A missing program is found before it is started. */
class ProgramCheckTest {
    @TempDir
    private Path folder;

    private Optional<String> complaint(String program) {
        return ProgramCheck.complaint(List.of(program, "--fast"), folder, Optional.of("/usr/bin:/bin:tools"));
    }

    private Path file(String name, String permissions) throws IOException {
        Path file = folder.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, "#!/bin/sh\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(permissions));
    }

    @Test
    void programsThatCanRunHaveNoProblem() throws IOException {
        assertThat(complaint(file("serve", "rwxr-xr-x").toString())).isEmpty();
        assertThat(complaint("./serve")).isEmpty();
        assertThat(complaint("sh")).isEmpty();
        assertThat(complaint("exec")).as("a command of the shell").isEmpty();
        file("tools/mine", "rwxr-xr-x");
        assertThat(complaint("mine")).as("in a relative directory of PATH").isEmpty();
    }

    @Test
    void aMissingProgramIsNamedWithTheWayOut() throws IOException {
        assertThat(complaint("/no/such/server"))
                .contains("its program /no/such/server does not exist on this machine; install it, or correct"
                        + " \"command\"");
        assertThat(complaint("no-such-server"))
                .contains("its program no-such-server is in no directory of PATH (/usr/bin:/bin:tools) on this machine;"
                        + " install it, or write its full path in \"command\"");
        assertThat(complaint(folder.toString())).get().asString().contains("is a directory");
        Path closed = file("closed", "rw-r--r--");
        assertThat(complaint(closed.toString()))
                .contains("this user may not run its program %s; set its permissions, such as chmod a+rx %s"
                        .formatted(closed, closed));
    }

    @Test
    void aMissingWorkingDirectoryIsNamedWithTheWayOut() {
        assertThat(ProgramCheck.complaint(List.of("sh"), folder.resolve("absent"), Optional.empty()))
                .contains("its working directory %s does not exist on this machine; create it, or name another in"
                                .formatted(folder.resolve("absent"))
                        + " \"directory\"");
    }
}
