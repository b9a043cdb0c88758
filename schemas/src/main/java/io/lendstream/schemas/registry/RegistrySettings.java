package io.lendstream.schemas.registry;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.kafka.common.config.types.Password;

/**
 * The addresses and credentials of the registry, under Confluent's property names.
 *
 * @param urls base addresses, tried in turn; a path such as {@code /apis/ccompat/v7} may follow the port
 * @param authorization the Authorization header; empty if none is needed
 * @param ssl Kafka's {@code ssl.*} settings, taken from {@code schema.registry.ssl.*}
 * @param retries how many times all addresses are tried again after all have failed
 */
public record RegistrySettings(
        List<URI> urls,
        Optional<Password> authorization,
        Map<String, Object> ssl,
        Duration connectTimeout,
        Duration readTimeout,
        int retries,
        Duration retryWait,
        Duration longestRetryWait) {
    /** Addresses of the registry, separated by commas. */
    public static final String URL = "schema.registry.url";

    /** The source of user and password: {@code URL} (default) or {@code USER_INFO}. */
    public static final String CREDENTIALS_SOURCE = "basic.auth.credentials.source";

    /** {@code user:password}, for {@code USER_INFO}. */
    public static final String USER_INFO = "basic.auth.user.info";

    public static final String BEARER_SOURCE = "bearer.auth.credentials.source";
    public static final String BEARER_TOKEN = "bearer.auth.token";
    public static final String CONNECT_TIMEOUT = "http.connect.timeout.ms";
    public static final String READ_TIMEOUT = "http.read.timeout.ms";
    public static final String RETRIES = "max.retries";
    public static final String RETRY_WAIT = "retries.wait.ms";
    public static final String LONGEST_RETRY_WAIT = "retries.max.wait.ms";

    private static final String PREFIX = "schema.registry.";

    public RegistrySettings {
        urls = List.copyOf(urls);
        ssl = Map.copyOf(ssl);
        if (urls.isEmpty()) {
            throw new IllegalArgumentException(
                    URL + " has no address; give at least one, such as http://registry:8081");
        }
        if (retries < 0) {
            throw new IllegalArgumentException("%s must be at least 0, but was %d".formatted(RETRIES, retries));
        }
    }

    /** Reads the settings from a Kafka client's properties, ignoring properties that do not concern the registry. */
    public static RegistrySettings from(Map<String, ?> properties) {
        List<URI> urls = new ArrayList<>();
        Optional<String> userInfoOfUrl = Optional.empty();
        for (String text : addresses(properties)) {
            URI uri = address(text);
            if (uri.getUserInfo() != null) {
                userInfoOfUrl = Optional.of(uri.getUserInfo());
            }
            urls.add(withoutUserInfo(uri));
        }
        Map<String, Object> ssl = new TreeMap<>();
        properties.forEach((name, value) -> {
            if (name.startsWith(PREFIX + "ssl.") && value != null) {
                ssl.put(name.substring(PREFIX.length()), hidden(name, value));
            }
        });
        return new RegistrySettings(
                urls,
                authorization(properties, userInfoOfUrl).map(Password::new),
                ssl,
                Duration.ofMillis(number(properties, CONNECT_TIMEOUT, 5_000)),
                Duration.ofMillis(number(properties, READ_TIMEOUT, 10_000)),
                Math.toIntExact(number(properties, RETRIES, 3)),
                Duration.ofMillis(number(properties, RETRY_WAIT, 200)),
                Duration.ofMillis(number(properties, LONGEST_RETRY_WAIT, 5_000)));
    }

    /** The settings of a registry that needs only an address. */
    public static RegistrySettings at(String urls) {
        return from(Map.of(URL, urls));
    }

    private static Object hidden(String name, Object value) {
        boolean secret = name.endsWith("password") || name.endsWith(".key");
        return secret && !(value instanceof Password) ? new Password(value.toString()) : value;
    }

    private static List<String> addresses(Map<String, ?> properties) {
        Object given = properties.get(URL);
        if (given == null) {
            throw new IllegalArgumentException(
                    URL + " is not set; give the registry's address, such as http://registry:8081");
        }
        String joined = given instanceof Collection<?> list
                ? list.stream().map(String::valueOf).collect(Collectors.joining(","))
                : given.toString();
        return List.of(joined.split(",", -1)).stream()
                .map(String::strip)
                .filter(text -> !text.isEmpty())
                .toList();
    }

    private static URI address(String text) {
        try {
            URI uri = new URI(text.endsWith("/") ? text.substring(0, text.length() - 1) : text);
            if (uri.getHost() == null || !("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
                throw new IllegalArgumentException(
                        "%s must be http://HOST:PORT or https://HOST:PORT, but was '%s'".formatted(URL, text));
            }
            return uri;
        } catch (URISyntaxException e) {
            throw new IllegalArgumentException(
                    "%s must be http://HOST:PORT or https://HOST:PORT, but was '%s'".formatted(URL, text), e);
        }
    }

    private static URI withoutUserInfo(URI uri) {
        if (uri.getUserInfo() == null) {
            return uri;
        }
        return URI.create(uri.getScheme() + "://" + uri.getHost() + (uri.getPort() < 0 ? "" : ":" + uri.getPort())
                + uri.getRawPath());
    }

    private static Optional<String> authorization(Map<String, ?> properties, Optional<String> userInfoOfUrl) {
        Optional<String> bearer = text(properties, BEARER_SOURCE);
        if (bearer.isPresent()) {
            if (!bearer.get().equals("STATIC_TOKEN")) {
                throw new IllegalArgumentException(
                        "%s is %s; this client supports only STATIC_TOKEN. Use that, or Confluent's own serializer"
                                .formatted(BEARER_SOURCE, bearer.get()));
            }
            return Optional.of("Bearer " + required(properties, BEARER_TOKEN, BEARER_SOURCE));
        }
        String source = text(properties, CREDENTIALS_SOURCE).orElse("URL").toUpperCase(Locale.ROOT);
        return switch (source) {
            case "URL" -> userInfoOfUrl.map(RegistrySettings::basic);
            case "USER_INFO" -> Optional.of(basic(required(properties, USER_INFO, CREDENTIALS_SOURCE)));
            default ->
                throw new IllegalArgumentException(
                        "%s must be URL or USER_INFO, but was %s".formatted(CREDENTIALS_SOURCE, source));
        };
    }

    private static String basic(String userInfo) {
        return "Basic " + Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.UTF_8));
    }

    private static String required(Map<String, ?> properties, String name, String because) {
        return text(properties, name)
                .orElseThrow(() ->
                        new IllegalArgumentException("%s is not set, but %s requires it".formatted(name, because)));
    }

    private static long number(Map<String, ?> properties, String name, long otherwise) {
        String text = text(properties, name).orElse(Long.toString(otherwise));
        try {
            long number = Long.parseLong(text.strip());
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "%s must be a whole number of at least 0, but was '%s'".formatted(name, text), e);
        }
        throw new IllegalArgumentException(
                "%s must be a whole number of at least 0, but was '%s'".formatted(name, text));
    }

    /** A property by its plain name or with the prefix {@code schema.registry.}, as Confluent's clients read it. */
    private static Optional<String> text(Map<String, ?> properties, String name) {
        Object value = properties.get(PREFIX + name);
        if (value == null) {
            value = properties.get(name);
        }
        if (value == null) {
            return Optional.empty();
        }
        return Optional.of(value instanceof Password password ? password.value() : value.toString());
    }
}
