//! Rules for parameters of `PATCH /realm` that are no settings.

use crate::http::{ApiError, ApiResult};
use serde_json::{Map, Value};

/// Checks `authentication_methods`. Passwords are the only method of this server and cannot be disabled.
pub fn check_authentication_methods(methods: &Map<String, Value>) -> ApiResult<()> {
    if let Some(name) = methods.keys().find(|name| *name != "Email") {
        let msg = format!("Invalid authentication method: {name}. Valid methods are: ['Email']");
        return Err(ApiError::bad_request(msg));
    }
    if !methods.values().any(|enabled| *enabled == true) {
        return Err(ApiError::bad_request("At least one authentication method must be enabled."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn passwords_are_the_one_method() {
        let check = |methods: Value| {
            let methods = methods.as_object().unwrap().clone();
            check_authentication_methods(&methods).map_err(|error| error.msg().to_owned())
        };
        assert_eq!(check(json!({"Email": true})), Ok(()));
        let none = Err("At least one authentication method must be enabled.".to_owned());
        assert_eq!(check(json!({"Email": false})), none);
        assert_eq!(check(json!({})), none);
        let msg = "Invalid authentication method: LDAP. Valid methods are: ['Email']";
        assert_eq!(check(json!({"Email": true, "LDAP": true})), Err(msg.to_owned()));
    }
}
