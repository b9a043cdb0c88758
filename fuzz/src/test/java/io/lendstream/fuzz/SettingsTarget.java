package io.lendstream.fuzz;

import io.lendstream.agent.AgentKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import io.lendstream.service.settings.SettingsFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A settings file of the agent, whose settings are of every kind. The first byte chooses properties or YAML. */
public final class SettingsTarget {
    private static final Path DIRECTORY = InputFiles.temporary();

    private SettingsTarget() {}

    public static void fuzzerTestOneInput(byte[] data) {
        if (data.length == 0) {
            return;
        }
        Path file = DIRECTORY.resolve((data[0] & 1) == 0 ? "settings.properties" : "settings.yaml");
        InputFiles.write(file, data, 1);
        try {
            Settings settings = Settings.of(AgentKeys.ALL, SettingsFile.read(file), Map.of(), List.of());
            for (Key<?> key : AgentKeys.ALL) {
                settings.get(key);
            }
            settings.lines();
        } catch (SettingsException e) {
            // Refused, with a message for its writer.
        }
    }
}
