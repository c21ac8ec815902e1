<#function licences all>
  <#assign names = ""/>
  <#list all as licence>
    <#assign names = names + (names?has_content)?then(" or ", "") + licence/>
  </#list>
  <#return names>
</#function>
Larder itself is under the Apache License 2.0: see LICENSE. It comes with these libraries, each a file of its own in lib/, where
also the notices that its licence asks for lie (META-INF in the jar):

<#list dependencyMap as entry>
${entry.getKey().artifactId} ${entry.getKey().version} (${entry.getKey().groupId}): ${licences(entry.getValue())}<#if entry.getKey().url?has_content>; ${entry.getKey().url}</#if>
</#list>
