package io.lendstream.launcher.access;

import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;

/**
 * Operations allowed on a resource of the brokers, or on all resources with a prefix.
 *
 * @param name the name of the resource, or the prefix
 */
record Grant(ResourceType kind, String name, PatternType pattern, List<AclOperation> operations) {
    private static final Pattern LINE =
            Pattern.compile("(topic|group|transactional-id|cluster)(?:\\s+(\\S+))?:\\s*(.+)");
    private static final String CLUSTER = "kafka-cluster"; // the name of the cluster resource in Kafka
    private static final String EVERYWHERE = "*";

    Grant {
        operations = List.copyOf(operations);
    }

    /**
     * Reads {@code KIND NAME: OPERATION...}; {@code NAME*} is all that start with {@code NAME}.
     *
     * @param prefix the value for <code>{prefix}</code>
     * @throws IllegalArgumentException if the line is no grant
     */
    static Grant parse(String line, String prefix) {
        Matcher parts = LINE.matcher(line);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "'%s' is no grant; write KIND NAME: OPERATION..., as in topic {prefix}decisions: write"
                            .formatted(line));
        }
        ResourceType kind = ResourceType.fromString(parts.group(1).replace('-', '_'));
        boolean isCluster = kind == ResourceType.CLUSTER;
        if (isCluster != (parts.group(2) == null)) {
            throw new IllegalArgumentException(
                    isCluster
                            ? "'%s' names a cluster, but there is only this one; write cluster: OPERATION..."
                                    .formatted(line)
                            : "'%s' names no %s; write its name before the colon".formatted(line, parts.group(1)));
        }
        String name = isCluster ? CLUSTER : parts.group(2).replace("{prefix}", prefix);
        boolean isPrefix = name.endsWith("*") && name.length() > 1;
        List<AclOperation> operations = List.of(parts.group(3).strip().split("\\s+")).stream()
                .map(Grant::operation)
                .toList();
        return new Grant(
                kind,
                isPrefix ? name.substring(0, name.length() - 1) : name,
                isPrefix ? PatternType.PREFIXED : PatternType.LITERAL,
                operations);
    }

    private static AclOperation operation(String word) {
        AclOperation operation = AclOperation.fromString(word);
        if (operation == AclOperation.UNKNOWN || operation == AclOperation.ANY) {
            throw new IllegalArgumentException(
                    "'%s' is no operation; the operations of Kafka are read, write, create, delete, alter, describe, describe_configs and others"
                            .formatted(word));
        }
        return operation;
    }

    /** One right an operation. */
    List<AclBinding> bindings(String user) {
        var resource = new ResourcePattern(kind, name, pattern);
        return operations.stream()
                .map(operation -> new AclBinding(
                        resource,
                        new AccessControlEntry("User:" + user, EVERYWHERE, operation, AclPermissionType.ALLOW)))
                .toList();
    }

    /** The grant as a command of {@code kafka-acls}. */
    String kafkaAcls(String user) {
        String words = operations.stream()
                .map(operation -> "--operation "
                        + operation.name().toLowerCase(Locale.ROOT).replace("_", ""))
                .collect(Collectors.joining(" "));
        String resource = kind == ResourceType.CLUSTER
                ? "--cluster"
                : "--%s '%s' --resource-pattern-type %s"
                        .formatted(
                                kind.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                                name,
                                pattern.name().toLowerCase(Locale.ROOT));
        return "kafka-acls --add --allow-principal 'User:%s' %s %s".formatted(user, words, resource);
    }
}
