package io.lendstream.service.health;

import io.lendstream.service.settings.CommonKeys;
import io.lendstream.service.settings.Key;
import io.lendstream.service.settings.Settings;
import io.lendstream.service.settings.SettingsException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.SslConfigs;
import org.apache.kafka.common.config.types.Password;
import org.apache.kafka.common.security.ssl.DefaultSslEngineFactory;

/**
 * Who may read the metrics, and whether the connection is encrypted. Health needs no login, because probes have none.
 *
 * @param login the {@code Authorization} header required for metrics; empty if no login is required
 * @param tls the server's certificate and key; empty for plain HTTP
 */
public record HealthAccess(Optional<String> login, Optional<SSLContext> tls) {
    /** No login, over plain HTTP. */
    public static final HealthAccess OPEN = new HealthAccess(Optional.empty(), Optional.empty());

    /**
     * Reads the access rules from a service's settings.
     *
     * @throws SettingsException if a login is incomplete, or a file cannot be read or used
     */
    public static HealthAccess of(Settings settings) {
        return new HealthAccess(login(settings), tls(settings));
    }

    /** Whether a request with this {@code Authorization} header may read the metrics. */
    boolean allows(String authorization) {
        return login.isEmpty()
                || MessageDigest.isEqual(
                        login.get().getBytes(StandardCharsets.UTF_8), authorization.getBytes(StandardCharsets.UTF_8));
    }

    private static Optional<String> login(Settings settings) {
        String user = settings.get(CommonKeys.HEALTH_USERNAME).strip();
        String password = settings.get(CommonKeys.HEALTH_PASSWORD);
        Optional<Path> file = settings.get(CommonKeys.HEALTH_PASSWORD_FILE);
        if (user.isEmpty()) {
            if (!password.isEmpty() || file.isPresent()) {
                throw new SettingsException(
                        "%s is set, but %s is not. Set the user name too, or leave the password out."
                                .formatted(
                                        password.isEmpty()
                                                ? CommonKeys.HEALTH_PASSWORD_FILE.name()
                                                : CommonKeys.HEALTH_PASSWORD.name(),
                                        CommonKeys.HEALTH_USERNAME.name()));
            }
            return Optional.empty();
        }
        if (user.indexOf(':') >= 0) {
            throw new SettingsException("%s is '%s', but must not contain a colon. Choose another name."
                    .formatted(CommonKeys.HEALTH_USERNAME.name(), user));
        }
        if (file.isPresent() && !password.isEmpty()) {
            throw new SettingsException("%s and %s are both set. Leave one of them out."
                    .formatted(CommonKeys.HEALTH_PASSWORD.name(), CommonKeys.HEALTH_PASSWORD_FILE.name()));
        }
        String secret = file.map(HealthAccess::secret).orElse(password);
        if (secret.isEmpty()) {
            throw new SettingsException("%s is %s, but there is no password. Set %s to a file with the password, or %s."
                    .formatted(
                            CommonKeys.HEALTH_USERNAME.name(),
                            user,
                            CommonKeys.HEALTH_PASSWORD_FILE.name(),
                            CommonKeys.HEALTH_PASSWORD.name()));
        }
        return Optional.of(
                "Basic " + Base64.getEncoder().encodeToString((user + ":" + secret).getBytes(StandardCharsets.UTF_8)));
    }

    private static String secret(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new SettingsException(
                    "%s is %s, but the file cannot be read: %s. Correct the path, or let this service's user read it."
                            .formatted(CommonKeys.HEALTH_PASSWORD_FILE.name(), file, e),
                    e);
        }
    }

    private static Optional<SSLContext> tls(Settings settings) {
        Optional<Path> keystore = settings.get(CommonKeys.HEALTH_KEYSTORE);
        if (keystore.isEmpty()) {
            for (Key<String> key : List.of(
                    CommonKeys.HEALTH_KEYSTORE_TYPE,
                    CommonKeys.HEALTH_KEYSTORE_PASSWORD,
                    CommonKeys.HEALTH_KEY_PASSWORD)) {
                if (!settings.get(key).equals(key.otherwise())) {
                    throw new SettingsException(
                            "%s is set, but %s is not, so metrics would use plain HTTP. Set the keystore too, or leave %1$s out."
                                    .formatted(key.name(), CommonKeys.HEALTH_KEYSTORE.name()));
                }
            }
            return Optional.empty();
        }
        Map<String, Object> ssl = new HashMap<>();
        ssl.put(SslConfigs.SSL_KEYSTORE_LOCATION_CONFIG, keystore.get().toString());
        ssl.put(SslConfigs.SSL_KEYSTORE_TYPE_CONFIG, settings.get(CommonKeys.HEALTH_KEYSTORE_TYPE));
        put(ssl, SslConfigs.SSL_KEYSTORE_PASSWORD_CONFIG, settings.get(CommonKeys.HEALTH_KEYSTORE_PASSWORD));
        put(ssl, SslConfigs.SSL_KEY_PASSWORD_CONFIG, settings.get(CommonKeys.HEALTH_KEY_PASSWORD));
        try (DefaultSslEngineFactory factory = new DefaultSslEngineFactory()) {
            factory.configure(new ConfigDef().withClientSslSupport().parse(ssl));
            return Optional.of(factory.sslContext());
        } catch (KafkaException e) {
            throw new SettingsException(
                    "%s is %s (%s), but cannot be used: %s. Correct the path, %s or %s."
                            .formatted(
                                    CommonKeys.HEALTH_KEYSTORE.name(),
                                    keystore.get(),
                                    settings.get(CommonKeys.HEALTH_KEYSTORE_TYPE),
                                    e.getCause() == null
                                            ? e.getMessage()
                                            : e.getCause().getMessage(),
                                    CommonKeys.HEALTH_KEYSTORE_TYPE.name(),
                                    CommonKeys.HEALTH_KEYSTORE_PASSWORD.name()),
                    e);
        }
    }

    private static void put(Map<String, Object> ssl, String name, String password) {
        if (!password.isEmpty()) {
            ssl.put(name, new Password(password));
        }
    }

    @Override
    public String toString() {
        return "HealthAccess[login=%s, tls=%s]".formatted(login.isPresent(), tls.isPresent());
    }
}
