package io.lendstream.schemas.serde;

import io.lendstream.schemas.registry.RegistryClient;
import io.lendstream.schemas.registry.RegistrySettings;
import io.lendstream.schemas.registry.SchemaNotFoundException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.avro.Schema;

/** Finds schemas that a service is to write with but may not register itself. */
public final class UnregisteredSchemas {
    private UnregisteredSchemas() {}

    /**
     * The topics whose records could not be written, in their order; none where schemas are registered with the first
     * record.
     *
     * @param configs settings of {@link AvroSerializer}
     * @param written the schema of each topic, by the topic's name
     * @throws io.lendstream.schemas.registry.RegistryException if the registry does not answer
     */
    public static List<String> of(Map<String, ?> configs, Map<String, Schema> written) {
        if (!"false".equals(String.valueOf(configs.get(AvroSerializer.AUTO_REGISTER)))) {
            return List.of();
        }
        boolean useLatest = "true".equals(String.valueOf(configs.get(AvroSerializer.USE_LATEST)));
        RegistryClient registry = RegistryClient.shared(RegistrySettings.from(configs));
        SubjectNaming naming = SubjectNaming.from(configs, false);
        return new TreeMap<>(written)
                .entrySet().stream()
                        .filter(topic -> {
                            Schema schema = topic.getValue();
                            String subject = naming.subject(topic.getKey(), false, schema);
                            return useLatest
                                    ? registry.versions(subject).isEmpty()
                                    : !isRegistered(registry, subject, schema);
                        })
                        .map(Map.Entry::getKey)
                        .toList();
    }

    private static boolean isRegistered(RegistryClient registry, String subject, Schema schema) {
        try {
            registry.idOf(subject, schema);
            return true;
        } catch (SchemaNotFoundException e) {
            return false;
        }
    }
}
