//! Rules for parameters of `PATCH /realm` that are no settings.

use crate::http::{ApiError, ApiResult};
use std::collections::BTreeMap;

/// Checks `authentication_methods` against the methods of the server and whether each is enabled, which no request
/// changes.
pub fn check_authentication_methods(
    methods: &BTreeMap<String, bool>,
    present: &BTreeMap<&str, bool>,
) -> ApiResult<()> {
    if let Some(name) = methods.keys().find(|name| !present.contains_key(name.as_str())) {
        let valid: Vec<String> = present.keys().map(|name| format!("'{name}'")).collect();
        let valid = valid.join(", ");
        let msg = format!("Invalid authentication method: {name}. Valid methods are: [{valid}]");
        return Err(ApiError::bad_request(msg));
    }
    if !methods.values().any(|enabled| *enabled) {
        return Err(ApiError::bad_request("At least one authentication method must be enabled."));
    }
    let changed = methods.iter().find(|(name, enabled)| present.get(name.as_str()) != Some(*enabled));
    if let Some((name, _)) = changed {
        let msg = format!("Authentication method {name} cannot be changed.");
        return Err(ApiError::bad_request(msg));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(methods: &[(&str, bool)], present: &[(&'static str, bool)]) -> Result<(), String> {
        let methods = methods.iter().map(|(name, enabled)| ((*name).to_owned(), *enabled)).collect();
        let present = present.iter().copied().collect();
        check_authentication_methods(&methods, &present).map_err(|error| error.msg().to_owned())
    }

    #[test]
    fn passwords_are_the_one_method_without_a_provider() {
        let present = [("Email", true)];
        assert_eq!(check(&[("Email", true)], &present), Ok(()));
        let none = Err("At least one authentication method must be enabled.".to_owned());
        assert_eq!(check(&[("Email", false)], &present), none);
        assert_eq!(check(&[], &present), none);
        let msg = "Invalid authentication method: LDAP. Valid methods are: ['Email']";
        assert_eq!(check(&[("Email", true), ("LDAP", true)], &present), Err(msg.to_owned()));
    }

    #[test]
    fn present_values_are_accepted_and_others_are_the_operators() {
        let present = [("Email", false), ("OpenID Connect", true)];
        assert_eq!(check(&present, &present), Ok(()));
        assert_eq!(check(&[("OpenID Connect", true)], &present), Ok(()));
        let msg = "Authentication method Email cannot be changed.";
        assert_eq!(check(&[("Email", true)], &present), Err(msg.to_owned()));
        let msg = "Invalid authentication method: SAML. Valid methods are: ['Email', 'OpenID Connect']";
        assert_eq!(check(&[("SAML", true)], &present), Err(msg.to_owned()));
    }
}
