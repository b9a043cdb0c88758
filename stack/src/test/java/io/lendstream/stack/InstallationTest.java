package io.lendstream.stack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class InstallationTest {

    @TempDir
    private Path home;

    @Test
    void newerLibrariesComeBeforeTheRegistrysJar() throws IOException {
        Path registry = Files.createDirectories(home.resolve("embedded/target/registry/overrides"))
                .getParent();
        Path runner = Files.createFile(registry.resolve("apicurio-runner.jar"));
        Path netty = Files.createFile(registry.resolve("overrides/netty-common-4.1.140.Final.jar"));
        Path jackson = Files.createFile(registry.resolve("overrides/jackson-core-2.22.1.jar"));

        assertThat(new Installation(home).registryClassPath()).containsExactly(jackson, netty, runner);
    }

    @Test
    void aRegistryThatIsNotBuiltIsNamed() {
        assertThatThrownBy(() -> new Installation(home).registryClassPath())
                .isInstanceOf(StackException.class)
                .hasMessageContaining("The registry is not built")
                .hasMessageContaining("./mvnw -DskipTests package");
    }
}
