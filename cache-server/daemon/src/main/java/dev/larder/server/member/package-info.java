/**
 * Code that runs in the process of a member of the store's group, not in the daemon: {@link dev.larder.server.member.ClientSideLoad} loads
 * with the member's own rights.
 */
@NullMarked
package dev.larder.server.member;

import org.jspecify.annotations.NullMarked;
